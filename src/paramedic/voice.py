"""paramedic's own voice: stderr, also when the script has replaced or closed its own."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TextIO

_kept: list[TextIO] = []


def keep() -> None:
    """Before the script runs: hold on to the terminal, whatever the script does to sys.stderr."""
    with contextlib.suppress(OSError, ValueError):  # no stderr at all: then there is nobody to talk to
        encoding = getattr(sys.stderr, "encoding", None) or "utf-8"
        _kept.append(os.fdopen(os.dup(2), "w", encoding=encoding, errors="backslashreplace"))


def stream() -> TextIO:
    return _kept[-1] if _kept else sys.stderr


def say(text: str, *, end: str = "\n") -> None:
    """Say something on stderr; never fails."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        if sys.stderr is not None and _kept:
            sys.stderr.flush()  # what the script said comes first
    with contextlib.suppress(OSError, ValueError, AttributeError):
        print(text, end=end, file=stream(), flush=True)
