"""Sets of faults by other hands: a make.py writes the files, as it did when they were scored."""

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

HERE = Path(__file__).parent


def planted(name: str) -> tuple[Plant, ...]:
    """The faults of a set, then its clean data; `expected.json` says which is which. Only codes are judged."""
    home = HERE / f"{name}_set"
    expected: Mapping[str, Mapping[str, Any]] = json.loads((home / "expected.json").read_text())
    in_order = sorted(expected, key=lambda one: not expected[one]["codes"])
    return tuple(_plant(home, one, expected[one]) for one in in_order)


def _plant(home: Path, name: str, wanted: Mapping[str, Any]) -> Plant:
    def plant(here: Path, random: np.random.Generator) -> Case:
        shutil.copytree(_sets(home) / name, here, dirs_exist_ok=True)
        return Case(args=tuple(shlex.split(wanted["command"])), codes=tuple(wanted["codes"]))

    plant.__name__ = name
    return plant


@functools.cache
def _sets(home: Path) -> Path:
    """All of them at once, as make.py writes them next to itself."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    runpy.run_path(str(shutil.copy(home / "make.py", folder)), run_name="__main__")
    return folder / "sets"
