"""The files of a run that only its process and its attendant use; they are gone when all went well."""

from __future__ import annotations

import contextlib
from pathlib import Path


def crash_file(folder: Path, pid: int) -> Path:
    """Stacks at a fatal signal."""
    return folder / f"crash-{pid}.txt"


def stacks_file(folder: Path, pid: int) -> Path:
    """Stacks at SIGUSR1."""
    return folder / f"stacks-{pid}.txt"


def box_file(folder: Path, pid: int) -> Path:
    return folder / f"box-{pid}"


def request_file(folder: Path, pid: int) -> Path:
    """Somebody wants to know where the process is."""
    return folder / f"request-{pid}"


def answer_file(folder: Path, pid: int) -> Path:
    """What the process says."""
    return folder / f"answer-{pid}.txt"


def tidy(folder: Path, pid: int) -> None:
    """Remove what nobody needs any more: everything but what was told, in crash.txt and dump.txt."""
    gone = [box_file(folder, pid), request_file(folder, pid), answer_file(folder, pid)]
    gone += [path for path in folder.glob("crash-*.txt") if not size_of(path)]
    for path in [*gone, *folder.glob("stacks-*.txt")]:
        with contextlib.suppress(OSError):
            path.unlink()


def size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
