"""Whether a record has an end, and if not, why."""

from __future__ import annotations

from pathlib import Path

from paramedic.paths import ENDED_BY
from paramedic.record.reader import Run, reading

UNDER_WAY = "the run is still under way"
BY_SIGNAL = "it was ended by "  # a time limit, a closed terminal: no fault of the script's


def is_under_way(folder: Path) -> bool:
    """Whether the process that writes the record is still at it."""
    with reading(folder) as runs:
        return cut_short(folder, runs[0]) == UNDER_WAY


def cut_short(folder: Path, run: Run) -> str | None:
    """Why the record has no end: the run is under way, or something ended it before it could say so."""
    if "seconds" in run.meta or "exit_code" in run.meta:
        return None
    if _is_alive(run):
        return UNDER_WAY
    told = folder / "crash.txt"
    if told.is_file() and not told.is_symlink():
        return f"the run was killed or has crashed, see {told}"
    if name := _text_of(folder / ENDED_BY):
        return f"{BY_SIGNAL}{name}"
    return "the run was killed, or left by os._exit()"


def _text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")[:20] if path.is_file() and not path.is_symlink() else ""


def _is_alive(run: Run) -> bool:
    """Whether the process that writes this record runs here; its number may long belong to another one."""
    import psutil

    try:
        return bool(psutil.Process(run.meta["pid"]).create_time() <= run.meta["started"] + 2)
    except (psutil.Error, KeyError, ValueError, OverflowError):
        return False
