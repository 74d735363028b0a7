"""From results to figures."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.accuracy.programs import Program
from benchmarks.accuracy.running import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A sick program and what was said of it and of its twin."""

    program: Program
    result: Result
    twin_silent: bool | None  # None: the twin was not run

    @property
    def found(self) -> bool:
        return any(code in self.program.codes for code, _ in self.result.findings)

    @property
    def first(self) -> bool:
        return bool(self.result.findings) and self.result.findings[0][0] in self.program.codes

    @property
    def line(self) -> bool | None:
        """Whether the first finding points at the marked line, give or take two; None where none is marked."""
        wanted = self.program.line
        if wanted is None or not self.first:
            return None
        line = self.result.findings[0][1]
        return line is not None and any(abs(line - edited) <= 2 for edited in {wanted, *self.program.lines})

    @property
    def paired(self) -> bool | None:
        return None if self.twin_silent is None else self.found and self.twin_silent


@dataclass(frozen=True, slots=True)
class Share:
    """Some of many, as a reader wants it."""

    hits: int
    of: int

    def __str__(self) -> str:
        return f"{self.hits} of {self.of} ({self.hits / self.of:.0%})" if self.of else "none"


def share(answers: Iterable[bool | None]) -> Share:
    known = [answer for answer in answers if answer is not None]
    return Share(sum(known), len(known))


def wilson(hits: int, of: int, z: float = 1.96) -> tuple[float, float]:
    """95 % confidence interval of a share, right for zero hits as well."""
    if not of:
        return 0.0, 1.0
    p, square = hits / of, z * z / of
    middle, width = p + square / 2, z * math.sqrt(p * (1 - p) / of + square / (4 * of))
    return max(0.0, (middle - width) / (1 + square)), min(1.0, (middle + width) / (1 + square))


def judge(programs: list[Program], results: list[Result]) -> list[Judged]:
    """The sick programs, each with its twin."""
    by_name: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        by_name.setdefault((result.source, result.program), []).append(result)
    judged = []
    for program in programs:
        if not program.is_sick or (program.source, program.name) not in by_name:
            continue
        twin = by_name.get((program.source, program.twin or ""))
        silent = all(not run.alarms for run in twin) if twin else None
        judged.append(Judged(program=program, result=by_name[program.source, program.name][0], twin_silent=silent))
    return judged
