"""Which runs there are to look at, and what a list says of each without asking a rule."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paramedic.diagnosis import recorded_losses
from paramedic.errors import ParamedicError
from paramedic.past_runs import RUNNING, UNREADABLE, Entry, folders, kept
from paramedic.record.ending import UNDER_WAY, cut_short
from paramedic.record.reader import Run, reading, trained
from paramedic.serve.pace import Pace

MOST_LISTED = 200


class Listing:
    """The runs of a folder, and those that were named: nothing else can be asked for."""

    def __init__(self, runs: Path, named: Sequence[Path] = ()) -> None:
        self.folder = runs
        self._named = {folder.name or folder.resolve().name: folder for folder in named}
        self._pace = Pace()
        self._entries: list[Entry] = []

    def find(self, name: str) -> Path | None:
        return self.folders().get(name)

    def folders(self) -> dict[str, Path]:
        """By name, the newest first: names begin with the time."""
        found = dict(self._named)
        found |= {folder.name: folder for folder in folders(self.folder)}
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
    """The kept verdict; of a run without one what its record says, without asking a rule."""
    found = kept(folder)
    if found is not None:
        return found
    try:
        with reading(folder) as runs:
            return _read(name, folder, runs)
    except ParamedicError as error:
        return Entry(id=name, state="starting" if "there is no record" in error.what else UNREADABLE)
    except Exception:  # one record that is not what it seems must not cost the list
        return Entry(id=name, state=UNREADABLE)


def _read(name: str, folder: Path, runs: list[Run]) -> Entry:
    run, why = trained(runs)[0], cut_short(folder, runs[0])
    curves = list(recorded_losses(run))
    meta = {**run.meta, **runs[0].meta}
    return Entry(
        id=name,
        state=RUNNING if why == UNDER_WAY else "ended" if why is None else "killed",
        script=str(meta.get("script", "")),
        steps=run.steps,
        loss=curves[0].values[-1] if len(curves) == 1 and curves[0].values else None,
        started=float(meta.get("started", 0)),
    )
