"""Records of one process group that were written on several machines: brought together in one folder."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from paramedic.errors import ParamedicError
from paramedic.paths import make_private_folder, open_private
from paramedic.record.reader import Run, open_runs

FIX = "paramedic merge HOST-A/.paramedic/runs/ID HOST-B/.paramedic/runs/ID"


def merge(folders: Sequence[Path], into: Path) -> list[int]:
    """Copy the records of these runs into a new folder, which is then a run like any other; returns the ranks."""
    distinct = list({folder.resolve(): folder for folder in folders}.values())
    if len(distinct) < 2:
        raise ParamedicError(
            "there is nothing to merge: one folder was given", expected="the run's folder on each machine", fix=FIX
        )
    with contextlib.ExitStack() as stack:
        found = {folder: open_runs(folder) for folder in distinct}
        for runs in found.values():
            for run in runs:
                stack.callback(run.close)
        _check(found)
        make_private_folder(into)
        taken: set[str] = set()
        for runs in found.values():
            for run in runs:
                _copy(run.path, into / _free_name(run.path.stem, taken))
    merged = open_runs(into, whole=False)
    for run in merged:
        run.close()
    return sorted({member.rank for run in merged for member in run.ranks if len(run.ranks) > 1})


def _check(found: dict[Path, list[Run]]) -> None:
    """All folders must hold ranks of the same process group, each rank once."""
    groups = {folder: {_group(run): run for run in runs if _group(run) is not None} for folder, runs in found.items()}
    for folder, ranks in groups.items():
        if not ranks:
            raise ParamedicError(
                f"no process in {folder} joined a process group", expected="a run under torch.distributed", fix=FIX
            )
    meetings = [{key[:2] for key in ranks if key is not None} for ranks in groups.values()]
    if not set.intersection(*meetings):
        raise ParamedicError(
            "these runs are not of one process group",
            expected="ranks that met at the same address, with one world size",
            fix="paramedic report FOLDER, for each run by itself",
        )
    seen: dict[tuple[object, ...], Path] = {}
    for folder, ranks in groups.items():
        for key, run in ranks.items():
            if key is not None and key in seen:
                raise ParamedicError(
                    f"rank {run.rank} is in {seen[key]} and in {folder}",
                    expected="each rank once",
                    fix="give the folders of one start of the job",
                )
            seen[key or ()] = folder


def _group(run: Run) -> tuple[object, object, int] | None:
    if "joined" not in run.meta or run.meta.get("world_size", 1) < 2:
        return None
    return run.meta.get("meeting"), run.meta.get("world_size"), run.rank


def _free_name(stem: str, taken: set[str]) -> str:
    """Each machine has a main.db; the first stays the main one."""
    name, number = stem, 1
    while name in taken:
        number += 1
        name = f"{stem}-{number}"
    taken.add(name)
    return f"{name}.db"


def _copy(source: Path, target: Path) -> None:
    """With what is still in SQLite's log beside the file."""
    open_private(target, "wb").close()
    with (
        contextlib.closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as old,
        contextlib.closing(sqlite3.connect(target)) as new,
    ):
        old.backup(new)
