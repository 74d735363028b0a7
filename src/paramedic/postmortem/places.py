"""The files of a run that only its process and its attendant use; they are gone when all went well."""

from __future__ import annotations

import contextlib
from pathlib import Path

ENDINGS = ("SIGTERM", "SIGHUP")
_KINDS = ("crash", "stacks", "box", "request", "answer", "stood", *ENDINGS)


def crash_file(folder: Path, pid: int) -> Path:
    """Stacks at a fatal signal."""
    return folder / f"crash-{pid}.txt"


def stacks_file(folder: Path, pid: int) -> Path:
    """Stacks at SIGUSR1."""
    return folder / f"stacks-{pid}.txt"


def ending_file(folder: Path, pid: int, name: str) -> Path:
    """Stacks at a signal that ends the process, if it came."""
    return folder / f"{name}-{pid}.txt"


def box_file(folder: Path, pid: int) -> Path:
    return folder / f"box-{pid}"


def request_file(folder: Path, pid: int) -> Path:
    """Somebody wants to know where the process is."""
    return folder / f"request-{pid}"


def answer_file(folder: Path, pid: int) -> Path:
    """What the process says."""
    return folder / f"answer-{pid}.txt"


def tidy(folder: Path, pids: set[int]) -> None:
    """Remove what nobody needs any more of these processes: all but what was told, in crash.txt and dump.txt.

    Files of processes that are gone go as well; other ranks, which share the folder, keep theirs.
    """
    for path in [*folder.glob("*-*.txt"), *folder.glob("*-*[0-9]")]:
        kind, _, number = path.stem.rpartition("-")
        told = kind in ("crash", "stood") and size_of(path)
        if kind in _KINDS and not told and (int(number) in pids or not Path(f"/proc/{number}").exists()):
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
