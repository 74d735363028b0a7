"""paramedic's own voice: stderr, also when the script has replaced or closed its own."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
from collections.abc import Iterator
from typing import TextIO

from paramedic import cells, descriptors

_kept: list[TextIO] = []
_here = threading.local()  # .silent: this thread repeats what was said already


class _Nowhere(io.StringIO):
    """There is no stderr, and stdout is the script's: nothing is said."""

    def write(self, text: str) -> int:
        return len(text)


_nowhere = _Nowhere()


def keep() -> None:
    """Before the script runs: hold on to the terminal, whatever the script does to sys.stderr."""
    if sys.stderr is None:
        return  # its number may belong to any file by now
    with contextlib.suppress(OSError, ValueError):  # no stderr at all: then there is nobody to talk to
        encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
        number = descriptors.keep(os.dup(2))
        _kept.append(os.fdopen(number, "w", encoding=encoding, errors="backslashreplace", closefd=False))


def stream() -> TextIO:
    if _kept and descriptors.is_ours(_kept[-1].fileno()):
        return _kept[-1]
    if cells.is_notebook() and sys.stdout is not None:
        return sys.stdout  # a notebook shows stderr in red, as if something had failed
    return sys.stderr if sys.stderr is not None else _nowhere


def tell_terminal(text: str) -> None:
    """Something that only somebody who waits wants to know."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        if stream().isatty():
            say(f"paramedic: {text}")


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """For work that another process of ours has done before, warnings included: they are not said twice."""
    _here.silent = True
    try:
        yield
    finally:
        _here.silent = False


def say(text: str, *, end: str = "\n") -> None:
    """Say something on stderr; never fails."""
    if getattr(_here, "silent", False):
        return
    with contextlib.suppress(OSError, ValueError, AttributeError):
        if sys.stderr is not None and _kept:
            sys.stderr.flush()  # what the script said comes first
    with contextlib.suppress(OSError, ValueError, AttributeError):
        print(text, end=end, file=stream(), flush=True)
