"""The third set of faults, by another hand: files as they were written (third.tar.xz), and pictures drawn anew."""

from __future__ import annotations

import json
import shlex
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.audit.unseen import third_pictures
from benchmarks.audit.unseen.case import Case, Plant

HERE = Path(__file__).parent
EXPECTED: Mapping[str, Mapping[str, Any]] = json.loads((HERE / "third.json").read_text())


def stored(name: str) -> Plant:
    """The files of this name as they were written; `third.json` says what is wrong with them."""

    def plant(here: Path, random: np.random.Generator) -> Case:
        with tarfile.open(HERE / "third.tar.xz") as archive:
            members = [member for member in archive.getmembers() if member.name.startswith(f"{name}/")]
            archive.extractall(here, members, filter="data")
        for file in (here / name).iterdir():
            file.rename(here / file.name)
        wanted = EXPECTED[name]
        return Case(
            args=tuple(shlex.split(wanted["command"])),
            codes=tuple(wanted["codes"]),
            rows=frozenset(wanted["rows"]),
            columns=tuple(wanted["columns"]),
        )

    plant.__name__ = name
    return plant


FAULTS: tuple[Plant, ...] = (*(stored(n) for n, e in EXPECTED.items() if e["codes"]), *third_pictures.FAULTS)
CLEAN: tuple[Plant, ...] = (*(stored(n) for n, e in EXPECTED.items() if not e["codes"]), *third_pictures.CLEAN)
