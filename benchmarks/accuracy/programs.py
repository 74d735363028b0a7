"""The programs of the benchmark: sick ones with what must be found in them, their repaired twins, and healthy ones."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.accuracy import mutations
from paramedic.rules.catalogue import find_rule

HERE = Path(__file__).parent
CASES = HERE.parents[1] / "cases"
MUTANTS = HERE.parents[1] / "build" / "mutations"  # written anew each time
NEEDS = re.compile(r"^# (needs|judged by): ", re.MULTILINE)  # another machine, or another command


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One script. A healthy one expects no code."""

    name: str
    source: str  # where it comes from: cases, real, mutations, healthy
    script: Path
    codes: tuple[str, ...] = ()  # the right code, then others that would be right as well
    difficulty: str = ""  # E, M or H, where somebody has said so
    twin: str | None = None  # of a sick program: the name of its healthy twin
    has_line: bool = True  # whether there is one line to blame
    lines: tuple[int, ...] = ()  # those that may be edited, where no mark in the script says so

    @property
    def is_sick(self) -> bool:
        return bool(self.codes)

    @property
    def reported(self) -> bool:
        """Rules are tuned on one half of the programs and reported on both; a pair is never parted."""
        family = self.name.rpartition("/")[0] or self.name
        return zlib.crc32(f"{self.source}/{family}".encode()) % 2 == 1

    @property
    def line(self) -> int | None:
        """The line that is marked as the one to edit."""
        lines = self.script.read_text().splitlines()
        marks = (number for number, line in enumerate(lines, 1) if re.search(r"#\s*<-\s*PM", line))
        return next(marks, next(iter(self.lines), None)) if self.is_sick and self.has_line else None


def all_programs() -> list[Program]:
    return [*_cases(), *real_programs(), *_mutations(), *_healthy()]


def _cases() -> Iterator[Program]:
    for script in sorted(CASES.glob("PM*/*.py")):
        code, folder = script.parent.name[:5], script.parent.name
        if script.name.startswith("_") or NEEDS.search(script.read_text()) or find_rule(code).reads == "audit":
            continue
        sick = script.stem.startswith("sick")
        twin = script.stem.replace("sick", "healthy")
        twin = twin if (script.parent / f"{twin}.py").exists() else "healthy"
        yield Program(
            name=f"{folder}/{script.stem}",
            source="cases",
            script=script,
            codes=(code,) if sick else (),
            twin=f"{folder}/{twin}" if sick else None,
        )


def real_programs() -> Iterator[Program]:
    for name, expected in json.loads((HERE / "real" / "expected.json").read_text()).items():
        folder = HERE / "real" / name
        if not (folder / "sick.py").exists():
            continue
        yield Program(name=f"{name}/fixed", source="real", script=folder / "fixed.py")
        yield Program(
            name=f"{name}/sick",
            source="real",
            script=folder / "sick.py",
            codes=(expected["code"], *expected.get("also", ())),
            difficulty=expected["difficulty"],
            twin=f"{name}/fixed",
            has_line=expected["line"],
        )


def unseen_programs(round: str) -> Iterator[Program]:
    """Pairs whose author knew the codes of the catalogue and nothing else; see UNSEEN.md."""
    home = HERE / "unseen" / round
    for name, expected in json.loads((home / "expected.json").read_text()).items():
        yield Program(name=f"{name}/fixed", source=round, script=home / name / "fixed.py")
        yield Program(
            name=f"{name}/sick",
            source=round,
            script=home / name / "sick.py",
            codes=tuple(expected["codes"]),
            difficulty=expected["difficulty"],
            twin=f"{name}/fixed",
            has_line=expected["line"],
            lines=tuple(expected.get("lines", ())),
        )


def _mutations() -> Iterator[Program]:
    scripts = mutations.write(MUTANTS)
    for base in sorted({name.partition("/")[0] for name in scripts}):
        yield Program(name=f"{base}/healthy", source="mutations", script=scripts[f"{base}/healthy"])
    for mutation in mutations.all_mutations():
        name = f"{mutation.base}/{mutation.name}"
        yield Program(
            name=name,
            source="mutations",
            script=scripts[name],
            codes=mutation.codes,
            twin=f"{mutation.base}/healthy",
            has_line=mutation.has_line,
        )


def _healthy() -> Iterator[Program]:
    for script in sorted((HERE / "healthy").glob("*.py")):
        yield Program(name=script.stem, source="healthy", script=script)
