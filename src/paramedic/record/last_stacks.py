"""Where a process stood when a signal ended it: the stacks that it left in the run's folder on its way."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from paramedic.findings import Where
from paramedic.record.reader import Run

LARGEST = 1 << 20  # bytes of a file that are read
_FRAME = re.compile(r'  File "(.*)", line (\d+) in (.*)')
_THREAD = re.compile(r"(?:Current thread|Thread) 0x[0-9a-f]+.*\(most recent call first\)")
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LIBRARIES = ("site-packages", "dist-packages", f"{os.sep}lib{os.sep}python", "<frozen")


class Stood(NamedTuple):
    """The user's innermost line, the calls from it inwards, and when the signal came."""

    where: Where
    calls: list[str]  # "all_reduce", innermost first
    stack: list[str]
    time: float


def stood_file(folder: Path, pid: int) -> Path:
    return folder / f"stood-{pid}.txt"


def stood_at(run: Run) -> Stood | None:
    """None where no signal came, where nobody could note it, and where the thread that trains cannot be told."""
    pid = int(run.meta.get("pid", 0))
    for path in (stood_file(run.path.parent, pid), run.path.parent / f"SIGTERM-{pid}.txt"):
        if "seconds" in run.meta or path.is_symlink() or not path.is_file() or not path.stat().st_size:
            continue
        with path.open(encoding="utf-8", errors="replace") as file:
            threads = _THREAD.split(file.read(LARGEST))[1:]
        for thread in reversed(threads):  # the main thread is the last one
            frames = [(f, int(line), function) for f, line, function in _FRAME.findall(thread)]
            own = next((i for i, (f, _, _) in enumerate(frames) if not _is_foreign(f)), None)
            if own is not None:
                file_name, line, function = frames[own]
                where = Where(file=_shown(file_name), line=line, function=function, rank=run.rank, step=run.steps)
                told = [f"{_shown(f)}:{n} in {name}" for f, n, name in reversed(frames)]
                return Stood(where, [name for _, _, name in frames[:own]], told, path.stat().st_mtime)
    return None


def _is_foreign(file: str) -> bool:
    return file.startswith(_OURS) or any(part in file for part in _LIBRARIES)


def _shown(file: str) -> str:
    here = os.getcwd() + os.sep
    return file.removeprefix(here)
