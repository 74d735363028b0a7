"""`paramedic` called inside the test's own process: for input that is refused, or that needs no script to run."""

from __future__ import annotations

import contextlib
import io
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path

from paramedic.__main__ import main
from workshop import Done

TIMEOUT = 60  # seconds; what takes longer hangs


class Hangs(BaseException):
    """Nothing in between may catch it."""


def call(folder: Path, *args: object) -> Done:
    """What a user in that folder sees. An exception that gets out is a traceback of ours, on stderr."""
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    given, sys.argv = sys.argv, ["paramedic", *map(str, args)]
    try:
        with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _bounded():
            main()
    except SystemExit as exit:
        code = exit.code
    except Exception:
        err.write(traceback.format_exc())
        code = -1
    finally:
        sys.argv = given
    return Done(code=int(code or 0), stdout=out.getvalue(), stderr=err.getvalue(), json=None)  # type: ignore[call-overload]


@contextlib.contextmanager
def _bounded() -> Iterator[None]:
    def late(*_: object) -> None:
        raise Hangs

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(TIMEOUT)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def refused(done: Done) -> bool:
    """Exit code 2 and a message: what, expected, try; or the usage that the command line library shows."""
    text = done.stderr
    told = text.startswith("paramedic: ") and "\n  expected  " in text and "\n  try       " in text
    return done.code == 2 and "Traceback" not in text and (told or "Usage:" in text)
