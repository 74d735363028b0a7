"""Our open files in a process that belongs to somebody else.

A script that closes all descriptors and then opens files gets their numbers, and what we write would land in its
files. So `os.close` and `os.closerange` pass ours over, as if they were not there; and before we write, we make sure
that a number still stands for the file that it stood for, because native code may close it, too.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from paramedic.patching import for_good


class Known(NamedTuple):
    """What a number stands for, and in which process: a fork may close all it wants."""

    process: int
    device: int
    file: int


_ours: dict[int, Known] = {}
_passing = threading.RLock()  # again by whoever holds it: a signal's handler may close a file, too
_owner = os.getpid()  # of the lock


def keep(number: int) -> int:
    """Call this descriptor ours; returns its number."""
    state = os.fstat(number)
    _ours[number] = Known(os.getpid(), state.st_dev, state.st_ino)
    return number


def keep_open(path: Path) -> list[int]:
    """Call all descriptors ours that are open for this file, or for one whose name begins like it, as SQLite's do.

    Where there is no /proc, none is found.
    """
    found = []
    beginning = str(path.resolve())
    try:
        numbers = [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:
        return []
    for number in numbers:
        try:
            if os.readlink(f"/proc/self/fd/{number}").startswith(beginning):
                found.append(keep(number))
        except OSError:  # it was the one that the list was read with
            continue
    return found


def fill_gaps() -> None:
    """Where the standard streams are closed: no file of ours may take their numbers, which native code writes to.

    What is put there can be used for nothing, as if it were not there.
    """
    for number, useless in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_RDONLY)):
        try:
            os.fstat(number)
        except OSError:
            keep(os.open(os.devnull, useless))


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """While a thread of ours has a file open for a moment, nobody closes descriptors by their number.

    For a second at most. After a fork, the thread that holds the lock does not exist.
    """
    global _passing, _owner
    if _owner != os.getpid():
        _passing, _owner = threading.RLock(), os.getpid()
    lock = _passing
    held = lock.acquire(timeout=1)
    try:
        yield
    finally:
        if held:
            lock.release()


def forget(number: int) -> None:
    _ours.pop(number, None)


def close(number: int) -> None:
    """If it is still ours; else it is somebody else's by now, or closed."""
    if is_ours(number):
        forget(number)
        with contextlib.suppress(OSError):
            os.close(number)


def is_ours(number: int) -> bool:
    """Whether it still stands for the file that we have opened."""
    known = _ours.get(number)
    try:
        state = os.fstat(number)
    except OSError:
        return False
    return known == (os.getpid(), state.st_dev, state.st_ino)


def spare() -> None:
    """Have the script's own calls pass our descriptors over."""
    if getattr(os.close, "__wrapped__", None) is not None:
        return
    close, closerange = os.close, os.closerange

    @functools.wraps(close)
    def careful_close(fd: int) -> None:
        if fd in _ours and is_ours(fd):
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))  # without us there would be no such descriptor
        with undisturbed():
            close(fd)

    @functools.wraps(closerange)
    def careful_closerange(fd_low: int, fd_high: int, /) -> None:
        with undisturbed():
            _close_all_but_ours(fd_low, fd_high)

    def _close_all_but_ours(fd_low: int, fd_high: int) -> None:
        start = fd_low
        for number in sorted(number for number in _ours if fd_low <= number < fd_high and is_ours(number)):
            closerange(start, number)
            start = number + 1
        closerange(start, fd_high)

    for_good(os, "close", careful_close)
    for_good(os, "closerange", careful_closerange)
