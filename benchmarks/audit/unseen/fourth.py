"""The fourth set of faults, by another hand: fourth_set/make.py writes the files, as it did when they were scored."""

from __future__ import annotations

import importlib.util
import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.audit.unseen.case import Case, Plant

HERE = Path(__file__).parent / "fourth_set"
EXPECTED: Mapping[str, Mapping[str, Any]] = json.loads((HERE / "expected.json").read_text())


def written(name: str) -> Plant:
    """The files of this name; `expected.json` says what is wrong with them. Only codes are judged: see UNSEEN.md."""

    def plant(here: Path, random: np.random.Generator) -> Case:
        spec = importlib.util.spec_from_file_location("make", HERE / "make.py")
        assert spec is not None and spec.loader is not None
        make = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(make)
        make.ROOT = here.parent / f"{here.name}-fourth"
        (make.scripts if name.startswith("script_") else getattr(make, name))()
        (make.ROOT / name).rename(here / "set")
        for file in (here / "set").iterdir():
            file.rename(here / file.name)
        told = ("PM324",) if "codes_note" in EXPECTED[name] else ()  # the target among the inputs: a code of its own
        codes = (*EXPECTED[name]["codes"], *told)
        return Case(args=tuple(shlex.split(EXPECTED[name]["command"])), codes=codes)

    plant.__name__ = name
    return plant


FAULTS: tuple[Plant, ...] = tuple(written(name) for name, wanted in EXPECTED.items() if wanted["codes"])
CLEAN: tuple[Plant, ...] = tuple(written(name) for name, wanted in EXPECTED.items() if not wanted["codes"])
