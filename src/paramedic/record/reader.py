"""Read a run back: the only view that rules have of what happened."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from paramedic.errors import ParamedicError, message_of, shown
from paramedic.findings import Where
from paramedic.paths import kind_of
from paramedic.record import checking
from paramedic.record.facts import Backward
from paramedic.record.facts.fact import F, Fact, Occurrence, known_as
from paramedic.record.facts.storing import restored
from paramedic.record.samples import Sample, unpack
from paramedic.record.schema import SCHEMA_VERSION

LARGEST = 4 << 30  # bytes of a record
_ODD_BYTE = re.compile(r"\\u(dc[89a-f][0-9a-f])")


class Run:
    """The record of one process of a run. Everything is read lazily and once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ranks: tuple[Run, ...] = (self,)  # the processes that train one model with this one, itself among them
        self.beside: tuple[Run, ...] = (self,)  # all records of the run, that of a launcher among them
        self.read: set[str] = set()  # what was asked for: "loss_call", "samples of gradient", "points of loss" …
        self._facts: dict[type[Fact], list[Any]] = {}
        self._samples: dict[str, list[Sample]] = {}
        self._series: dict[str, list[tuple[int, float]]] = {}
        self._connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)

    def check(self, *, whole: bool = True) -> object:
        """The record's format; raises where it is not what a record of this format has to be."""
        version = checking.version_of(self._connection)
        if whole and version == SCHEMA_VERSION:
            checking.check(self._connection)
        return version

    def close(self) -> None:
        """What was read stays; nothing more can be."""
        self._connection.close()

    @cached_property
    def meta(self) -> dict[str, Any]:
        return {name: json.loads(value) for name, value in self._connection.execute("SELECT name, value FROM meta")}

    @property
    def rank(self) -> int:
        return int(self.meta.get("rank", 0))

    @cached_property
    def steps(self) -> int:
        """Optimizer steps taken; of a run that was killed, as far as it got."""
        if "steps" in self.meta:
            return int(self.meta["steps"])
        highest = self._connection.execute("SELECT MAX(last_step + 1) FROM events WHERE kind = 'step'").fetchone()[0]
        return int(highest or 0)

    def facts(self, kind: type[F], *, phase: str | None = None) -> list[F]:
        """All facts of a kind, in the order in which they first happened."""
        found: list[F] = self._facts.get(kind)  # type: ignore[assignment]
        name = known_as(kind).name
        self.read.add(name)
        if found is None:
            rows = self._connection.execute("SELECT * FROM events WHERE kind = ? ORDER BY id", (name,))
            found = self._facts[kind] = [self._fact(kind, row) for row in rows]
        return found if phase is None else [fact for fact in found if fact.phase == phase]

    def first(self, kind: type[F]) -> F | None:
        return next(iter(self.facts(kind)), None)

    @cached_property
    def series_names(self) -> list[str]:
        names = self._connection.execute("SELECT DISTINCT series FROM points ORDER BY rowid")
        return [as_named(row[0]) or "" for row in names]

    def curves(self, kind: str) -> dict[str, list[tuple[int, float]]]:
        """All series of a kind, such as those of "loss" by the line of their backward()."""
        self.read.add(f"points of {kind}")
        names = (name.partition(":") for name in self.series_names)
        return {label: self.series(f"{kind}:{label}") for prefix, _, label in names if prefix == kind}

    def series(self, name: str) -> list[tuple[int, float]]:
        self.read.add(f"points of {name.partition(':')[0]}")
        if name not in self._series:
            stored = name.encode("utf-8", "backslashreplace").decode()
            rows = self._connection.execute("SELECT step, value FROM points WHERE series = ? ORDER BY rowid", (stored,))
            self._series[name] = [(step, float(value)) for step, value in rows]
        return self._series[name]

    def samples(self, role: str) -> list[Sample]:
        """Statistics of all tensors of a role ("gradient", "weight", "update" or "output"), by step."""
        self.read.add(f"samples of {role}")
        if role not in self._samples:
            rows = self._connection.execute(
                "SELECT step, names.names, rows FROM samples JOIN names ON names.id = samples.names "
                "WHERE role = ? ORDER BY step, samples.rowid",
                (role,),
            )
            self._samples[role] = [self._sample(role, *row) for row in rows]
        return self._samples[role]

    def points_after(self, row: int) -> list[tuple[int, str, int, float]]:
        """Points of all series in the order in which they were written: row, series, step and value."""
        rows = self._connection.execute("SELECT rowid, series, step, value FROM points WHERE rowid > ?", (row,))
        return [(at, as_named(name) or "", step, float(value)) for at, name, step, value in rows]

    def samples_after(self, row: int) -> list[tuple[int, Sample]]:
        rows = self._connection.execute(
            "SELECT samples.rowid, role, step, names.names, rows FROM samples JOIN names ON names.id = samples.names "
            "WHERE samples.rowid > ? ORDER BY samples.rowid",
            (row,),
        )
        return [(at, self._sample(role, step, names, packed)) for at, role, step, names, packed in rows]

    def _sample(self, role: str, step: int, names: str, packed: bytes) -> Sample:
        known = tuple(json.loads(names))
        return Sample(step=step, role=role, names=known, rows=unpack(packed, len(known)))

    def _fact(self, kind: type[F], row: tuple[Any, ...]) -> F:
        number, _, time, step, last_step, count, phase, file, line, function, module, data, _ = row
        where = Where(file=as_named(file), line=line, function=function, module=module, step=step, rank=self.rank)
        occurrence = Occurrence(
            id=number, time=time, step=step, last_step=last_step, count=count, phase=phase, where=where
        )
        return restored(kind, json.loads(data), occurrence=occurrence)


def as_named(file: str | None) -> str | None:
    """A file's name as the system knows it; the record spells out bytes that are not UTF-8."""
    return _ODD_BYTE.sub(lambda found: chr(int(found[1], 16)), file) if file else file


def open_runs(folder: Path, *, whole: bool = True) -> list[Run]:
    """All records in a run's folder, the main process first. Raises ParamedicError when one is damaged, or none there.

    Every file is checked before it is believed: a record may come from anywhere. Without `whole` only its format is,
    for a record that was checked a moment ago.
    """
    runs = [run for file in sorted(folder.glob("*.db")) if (run := _checked(file, whole=whole)) is not None]
    if not runs:
        raise ParamedicError(
            f"there is no record in {folder}",
            expected="a folder such as .paramedic/runs/<id> with at least one .db file",
            fix="run the script with: paramedic run train.py",
        )
    code: dict[str, str] = next((run.meta["code"] for run in runs if "code" in run.meta), {}) if len(runs) > 1 else {}
    for run in runs if code else ():
        run.meta.setdefault("code", code)  # ranks run what the process that started them has kept
    for team in _teams(runs):
        for run in team:
            run.ranks = tuple(sorted(team, key=lambda member: member.rank))
    for run in runs:
        run.beside = tuple(runs)
    return sorted(runs, key=lambda run: (run.rank, run.path.stem))


@contextmanager
def reading(folder: Path) -> Iterator[list[Run]]:
    """The records of a run for a short look, without a check of every row; their files are closed behind it."""
    runs = open_runs(folder, whole=False)
    try:
        yield runs
    finally:
        for run in runs:
            run.close()


def trained(runs: list[Run]) -> list[Run]:
    """Those that trained. A rank may fail before its first step; its parent has a record, too, but trained nothing."""
    return [run for run in runs if run.steps] or [run for run in runs if run.facts(Backward)] or runs[:1]


def _checked(file: Path, *, whole: bool) -> Run | None:
    """None for a record whose process was killed before it wrote anything."""
    try:
        if file.is_symlink() or kind_of(file) != "file":
            raise ValueError("it is not a file of its own")
        if file.stat().st_size > LARGEST:
            raise ValueError(f"it is larger than {LARGEST:,} bytes")
        run = Run(file)
        version = run.check(whole=whole)
    except (sqlite3.Error, ValueError, TypeError, OverflowError, RecursionError, MemoryError) as error:
        raise damaged(file, error) from None
    if version is not None and version != SCHEMA_VERSION:
        raise ParamedicError(
            f"{file} has record format {shown(version)}",
            expected=f"format {SCHEMA_VERSION}, which this version of paramedic reads",
            fix="read it with the paramedic version that wrote it",
        )
    return None if version is None else run


def damaged(file: Path, error: Exception) -> ParamedicError:
    said = message_of(error).splitlines()
    return ParamedicError(
        f"{file} is not a readable record: {said[0] if said else type(error).__name__}",
        expected="a record as paramedic run wrote it, whole",
        fix="another copy of it; if it is one of several processes, move it away to read the others",
    )


def _teams(runs: list[Run]) -> list[list[Run]]:
    """Processes of one process group. A script may form several, one after the other, each with a rank 0."""
    teams: list[list[Run]] = []
    for run in sorted(runs, key=lambda run: run.meta.get("joined", 0)):
        if run.meta.get("world_size", 1) < 2 or "joined" not in run.meta:
            continue
        meeting = _meeting(run)
        last = next((team for team in reversed(teams) if _meeting(team[0]) == meeting), None)
        if last is None or run.rank in {member.rank for member in last}:
            teams.append([run])
        else:
            last.append(run)
    return teams


def _meeting(run: Run) -> tuple[object, object]:
    return run.meta.get("meeting"), run.meta.get("world_size")
