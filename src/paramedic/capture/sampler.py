"""A thread that looks at the training thread a few times per second: which line is at work, and is it still moving?"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from types import FrameType

from paramedic.capture.sources.clock import BACKWARD, DATA, OPTIMIZER, OTHER, Clock
from paramedic.program.where import frame_site, is_users
from paramedic.record.facts import LineSample

QUICKEST, SLOWEST = 0.05, 0.5  # seconds between two looks
MOST_SEEN = 200  # looks remembered per step
_PLACES = {  # of torch's own code, each deep inside one part of the loop
    os.path.join("torch", "utils", "data", "dataloader.py"): DATA,
    os.path.join("torch", "autograd", "graph.py"): BACKWARD,
    os.path.join("torch", "optim", "optimizer.py"): OPTIMIZER,
}


class Sampler:
    """Costs the training thread nothing but the moment for which it cannot have the interpreter."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.on_look: list[Callable[[FrameType], None]] = []  # given the innermost frame; must not keep it
        self._stop = threading.Event()
        self._process = 0

    def start(self) -> None:
        if self._process != os.getpid():  # a fork does not inherit its parent's threads
            self._process = os.getpid()
            self._stop = threading.Event()
            threading.Thread(target=self._run, args=(self._stop,), name="paramedic-clock", daemon=True).start()

    def stop(self) -> None:
        self._stop.set()

    def _run(self, stop: threading.Event) -> None:
        clock = self.clock
        while not stop.wait(min(max(2 * (clock.typical or 0.0), QUICKEST), SLOWEST)):
            frame = sys._current_frames().get(clock.thread)
            if frame is None:
                continue
            try:
                self._look(frame)
            except Exception as error:
                clock.watcher.guard.detach("sampler", error)
                return
            finally:
                del frame  # or the variables of the user's functions would live longer than they should

    def _look(self, frame: FrameType) -> None:
        clock = self.clock
        for use in self.on_look:
            use(frame)
        user: FrameType | None = frame
        while user is not None and not is_users(user.f_code.co_filename):
            user = user.f_back
        if user is None:
            return
        site, part = frame_site(user), clock.part
        if clock.idle:
            part = part_of(frame) or OTHER
        if len(clock.seen) < MOST_SEEN:
            clock.seen.append(site)
        clock.watcher.state(LineSample(part=part), site=site, phase="train", key=(part, site))


def part_of(frame: FrameType | None) -> str | None:
    """The part of the loop that a stack is in, by the functions of torch on it: for when the clock is not read."""
    while frame is not None:
        for place, part in _PLACES.items():
            if frame.f_code.co_filename.endswith(place):
                return part
        frame = frame.f_back
    return None
