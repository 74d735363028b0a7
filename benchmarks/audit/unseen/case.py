"""What a planted fault is: files or a script in a folder, the command, and what a right answer names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Case:
    """`paramedic audit ARGS` inside the folder must give an alarm with one of these codes, and name these things."""

    args: tuple[str, ...]
    codes: tuple[str, ...] = ()  # none: the data is healthy
    rows: frozenset[int] = field(default_factory=frozenset)  # all of these samples
    columns: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    spare: frozenset[int] = field(default_factory=frozenset)  # samples that may be named as well: a copy's original


Plant = Callable[[Path, np.random.Generator], Case]


def picked(random: np.random.Generator, size: int, count: int) -> frozenset[int]:
    return frozenset(random.choice(size, count, replace=False).tolist())


def write_csv(path: Path, table: dict[str, Iterable[Any]]) -> None:
    lines = [",".join(table)] + [",".join(map(str, row)) for row in zip(*table.values(), strict=True)]
    path.write_text("\n".join(lines) + "\n")
