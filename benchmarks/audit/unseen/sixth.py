"""The sixth set of faults, by another hand: sixth_set/make.py writes the files, as it did when they were scored."""

from __future__ import annotations

import atexit
import functools
import json
import runpy
import shlex
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.audit.unseen.case import Case, Plant

HERE = Path(__file__).parent / "sixth_set"
EXPECTED: Mapping[str, Mapping[str, Any]] = json.loads((HERE / "expected.json").read_text())


@functools.cache
def _sets() -> Path:
    """All of them at once, as make.py writes them next to itself."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    runpy.run_path(str(shutil.copy(HERE / "make.py", folder)), run_name="__main__")
    return folder / "sets"


def written(name: str) -> Plant:
    """The files of this name; `expected.json` says what is wrong with them. Only codes are judged: see UNSEEN.md."""

    def plant(here: Path, random: np.random.Generator) -> Case:
        shutil.copytree(_sets() / name, here, dirs_exist_ok=True)
        return Case(args=tuple(shlex.split(EXPECTED[name]["command"])), codes=tuple(EXPECTED[name]["codes"]))

    plant.__name__ = name
    return plant


FAULTS: tuple[Plant, ...] = tuple(written(name) for name, wanted in EXPECTED.items() if wanted["codes"])
CLEAN: tuple[Plant, ...] = tuple(written(name) for name, wanted in EXPECTED.items() if not wanted["codes"])
