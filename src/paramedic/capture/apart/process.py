"""Ask something of the user's code in a process of its own, and bring back the answer as plain data."""

from __future__ import annotations

import contextlib
import json
import os
import random
import select
import signal
import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn

import torch

from paramedic.capture.apart.confinement import confine
from paramedic.capture.apart.hindrances import hindrance
from paramedic.capture.apart.on_host import Copies, staying
from paramedic.errors import message_of

MOST_BYTES = 4 << 20  # of an answer
MOST_TEXT = 120  # characters of an error
at_work: set[int] = set()  # processes that answer now: no children of the user's
_stuck: list[str] = []  # since a question was never answered, none is asked any more
_forking = [0]  # the thread that forks just now


class Refused(Exception):
    """Why there is no answer."""


class Impossible(Refused):
    """Why no process could be asked at all: nothing of the user's was run."""


def within_fork() -> bool:
    """Whether this is such a process, from its first moment on."""
    return _forking[0] == threading.get_ident()


def apart(
    question: Callable[[], object], seconds: float, *, differentiates: bool = False, copies: Copies | None = None
) -> Any:
    """What `question` returns, as JSON can hold it, when it is called on a copy of this process. Raises Refused.

    With `copies` of what lies on an accelerator, the question is put on the host.
    """
    if _stuck:
        raise Refused(_stuck[0])
    reason = hindrance(hosted=copies is not None)
    if reason is None and differentiates and torch.cuda.device_count():
        reason = "where there are accelerators, a forked process cannot differentiate"
    if reason is not None:
        raise Impossible(reason)
    numbers = random.getstate()  # which Python draws anew in a fork
    child, (ours, theirs) = 0, (os.fdopen(end, mode, 0) for end, mode in zip(os.pipe(), ("rb", "wb"), strict=True))
    try:
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        _forking[0] = threading.get_ident()
        try:
            child = os.fork()
            if child == 0:
                random.setstate(numbers)
                _answer(question, copies, theirs.fileno(), seconds)
            at_work.add(child)
        finally:
            _forking[0] = 0
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)  # handlers of the user's may run here, and raise
        theirs.close()
        return _read(ours.fileno(), seconds)
    except OSError as error:
        raise Impossible(f"the process could not be forked ({error.strerror})") from None
    finally:
        ours.close()
        theirs.close()
        if child:
            _end(child)


def _end(child: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):  # whoever waits for any child was faster
        os.waitpid(child, 0)
    at_work.discard(child)


def _read(descriptor: int, seconds: float) -> object:
    end, text = time.monotonic() + seconds, b""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while len(text) < MOST_BYTES:
        if not poll.poll(max(0.0, end - time.monotonic()) * 1000):
            _stuck.append(f"a copy of the process gave no answer within {seconds:.2g} s")
            raise Refused(_stuck[0])
        part = os.read(descriptor, 1 << 16)
        if not part:
            break
        text += part
    try:
        kind, value = json.loads(text)
    except ValueError:
        raise Refused("a copy of the process ended without an answer") from None
    if kind == "error":
        raise Refused(f"it could not be run again ({value})")
    return value


def _answer(question: Callable[[], object], copies: Copies | None, descriptor: int, seconds: float) -> NoReturn:
    """Life and death of the forked process. No handler of anybody runs at its end."""
    try:
        try:
            confine(descriptor, seconds + 1)
            torch.set_num_threads(1)  # the others are gone
            if copies is not None:
                copies.put_in_place()
            reply = ["answer", question() if copies is None else staying(question)]
        except BaseException as error:
            reply = ["error", f"{type(error).__name__}: {message_of(error)[:MOST_TEXT]}".rstrip(": ")]
        text = json.dumps(reply).encode()
        while text:
            text = text[os.write(descriptor, text) :]
    finally:
        os._exit(0)
