"""Which runs there are to look at, and what a list says of each without asking a rule."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from paramedic.diagnosis import UNDER_WAY, cut_short, recorded_losses
from paramedic.errors import ParamedicError
from paramedic.record.reader import Run, reading, trained
from paramedic.reports.words import number, plural
from paramedic.serve.pace import Pace

MOST_LISTED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A line of the list."""

    name: str
    script: str = ""
    state: str = "starting"
    steps: str = ""
    loss: str = ""
    age: str = ""


class Listing:
    """The runs of a folder, and those that were named: nothing else can be asked for."""

    def __init__(self, runs: Path | None, named: Sequence[Path] = ()) -> None:
        self._runs = runs
        self._named = {folder.name or folder.resolve().name: folder for folder in named}
        self._pace = Pace()
        self._entries: list[Entry] = []

    def find(self, name: str) -> Path | None:
        return self.folders().get(name)

    def folders(self) -> dict[str, Path]:
        """By name, the newest first: names begin with the time."""
        found = dict(self._named)
        if self._runs is not None and self._runs.is_dir():
            found |= {folder.name: folder for folder in self._runs.iterdir() if folder.is_dir()}
        return {name: found[name] for name in sorted(found, reverse=True)}

    def newer(self, name: str) -> str | None:
        """The newest run of the folder, where it is a later one."""
        newest = next(iter(self.folders()), name)
        return newest if newest > name else None

    def entries(self) -> list[Entry]:
        if self._pace.is_due:
            listed = list(self.folders().items())[:MOST_LISTED]
            self._entries = self._pace.timed(None, lambda: [_entry(name, folder) for name, folder in listed])
        return self._entries


def _entry(name: str, folder: Path) -> Entry:
    try:
        with reading(folder) as runs:
            return _read(name, folder, runs)
    except ParamedicError as error:
        return Entry(name=name, state="starting" if "there is no record" in error.what else "not readable")
    except Exception:  # one record that is not what it seems must not cost the list
        return Entry(name=name, state="not readable")


def _read(name: str, folder: Path, runs: list[Run]) -> Entry:
    run = trained(runs)[0]
    curves = list(recorded_losses(run))
    meta = {**run.meta, **runs[0].meta}
    return Entry(
        name=name,
        script=str(meta.get("script", "")),
        state=_state(meta.get("exit_code"), cut_short(folder, runs[0])),
        steps=f"{run.steps:,}",
        loss=number(curves[0].values[-1]) if len(curves) == 1 and curves[0].values else "",
        age=_age(time.time() - float(meta.get("started", 0))),
    )


def _state(exit_code: int | None, incomplete: str | None) -> str:
    if incomplete == UNDER_WAY:
        return "running"
    if incomplete is not None:
        return "killed"
    return "ended" if exit_code in (0, None) else f"failed, exit code {exit_code}"


def _age(seconds: float) -> str:
    for size, word in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{plural(int(seconds // size), word)} ago"
    return "just now"
