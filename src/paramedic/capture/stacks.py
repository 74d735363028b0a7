"""Stacks of all threads and, as far as they can be had, of all child processes, without stopping anybody."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path
from types import FrameType

import psutil

from paramedic import descriptors
from paramedic.postmortem.stacks import parse
from paramedic.program.where import shown_path
from paramedic.record.facts import Child

DEEPEST = 60  # frames per stack
PATIENCE = 0.5  # seconds for a child to answer
_FORK = os.path.join("multiprocessing", "process.py")
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LAUNCHER = os.path.join(_HERE, "launch.py")


def threads() -> dict[str, list[str]]:
    """Name of a thread -> its stack, innermost call last, as in a traceback. Threads of ours are left out."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    found = {}
    for identity, frame in sys._current_frames().items():
        name = names.get(identity, f"thread {identity}")
        if not name.startswith("paramedic"):
            found[name] = described(frame)
    return found


def described(frame: FrameType | None) -> list[str]:
    """From the script's first line inwards; what lies outside of the script, and calls of ours, are left out."""
    lines = []
    for summary in traceback.StackSummary.extract(traceback.walk_stack(frame), limit=DEEPEST):
        if summary.filename.startswith(_LAUNCHER):
            break
        if not summary.filename.startswith((_HERE, "<frozen")):
            lines.append(f"{shown_path(summary.filename)}:{summary.lineno} in {summary.name}: {summary.line}")
    return lines[::-1]


class Children:
    """Lets forked children answer a signal with their stacks.

    The handler is one of C, inherited by forks, and does nothing until the signal is sent; children that replaced their
    program have lost it, and a signal would kill them, so they are only described.
    """

    def __init__(self) -> None:
        self._answers: int | None = None
        self._signal = signal.SIGRTMAX - 3 if hasattr(signal, "SIGRTMAX") else None

    def install(self) -> None:
        if self._signal is not None and threading.current_thread() is threading.main_thread():
            number, name = tempfile.mkstemp()  # forks write to the same file
            os.unlink(name)
            self._answers = descriptors.keep(number)
            faulthandler.register(self._signal, file=self._answers, all_threads=True)

    def uninstall(self) -> None:
        if self._answers is not None and self._signal is not None:
            faulthandler.unregister(self._signal)
            descriptors.close(self._answers)
            self._answers = None

    def describe(self) -> list[Child]:
        found = []
        for child in psutil.Process().children(recursive=True):
            try:
                with child.oneshot():
                    name, status, spent = child.name(), child.status(), round(sum(child.cpu_times()[:2]), 2)
                stack = self._stack_of(child.pid)
            except (psutil.Error, OSError):  # it has just ended
                continue
            found.append(Child(pid=child.pid, name=name, status=status, cpu_seconds=spent, stack=stack))
        return found

    def _stack_of(self, child: int) -> list[str]:
        if self._answers is None or self._signal is None or not descriptors.is_ours(self._answers):
            return []
        if not _catches(child, self._signal):
            return []
        before = os.fstat(self._answers).st_size
        os.kill(child, self._signal)
        size, end = before, time.monotonic() + PATIENCE
        while time.monotonic() < end:
            time.sleep(0.02)
            now = os.fstat(self._answers).st_size
            if now == size > before:
                break
            size = now
        return _current_thread(os.pread(self._answers, size - before, before).decode(errors="replace"))


def _current_thread(text: str) -> list[str]:
    """The thread that faulthandler calls the current one, as `described` would write it."""
    _, threads = parse(text)
    frames = threads[0].frames if threads else []
    born = [place for place, (file, _, _) in enumerate(frames) if file.endswith(_FORK)]
    own = frames[born[-1] + 1 :] if born else frames  # what lies before is the parent's stack at the time of the fork
    shown = [frame for frame in own if not frame[0].startswith((_HERE, "<frozen"))]
    return [f"{shown_path(file)}:{line} in {function}" for file, line, function in shown[-DEEPEST:]]


def _catches(process: int, number: int) -> bool:
    """Whether the process has a handler for the signal; without one it would die of it."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False
    caught = next((line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:")), "0")
    return bool(int(caught, 16) >> (number - 1) & 1)
