"""The accelerator's own clock: events between the parts of a step, read when they have long passed."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from paramedic.capture.moments import Lap

MOST_WAITING = 64  # laps; later ones are told with the host's times instead
MOST_MARKS = 256  # per lap


class DeviceClock:
    """Times the parts of a step where they are computed.

    The host only hands out work and runs ahead; its own times say where it waited, not what took long. An event is
    recorded at every border between two parts, so the sum of all parts is the time that the device saw pass.
    """

    def __init__(self) -> None:
        self.active = False
        self._marks: list[tuple[str, torch.cuda.Event]] = []  # the part that ended, and when
        self._last: torch.cuda.Event | None = None  # the end of the previous lap
        self._waiting: deque[tuple[Lap, torch.cuda.Event | None, list[tuple[str, torch.cuda.Event]]]] = deque()
        self._pool: list[torch.cuda.Event] = []

    def follow(self, device: torch.device) -> None:
        self.active = device.type == "cuda"

    def restart(self) -> None:
        """Time went by that nobody is to be charged for: the next lap begins here."""
        self._marks = []
        self.mark("")
        self._last = self._marks.pop()[1] if self._marks else None

    def mark(self, part: str) -> None:
        """A part ends here."""
        if self.active and len(self._marks) < MOST_MARKS and not torch.cuda.is_current_stream_capturing():
            event = self._pool.pop() if self._pool else torch.cuda.Event(enable_timing=True)
            event.record()
            self._marks.append((part, event))

    def lap(self, lap: Lap) -> list[Lap]:
        """A lap has ended. Returns the laps whose times are known by now, this one at once on the CPU."""
        if not self.active:
            return [lap]
        self._waiting.append((lap, self._last, self._marks))
        self._last = self._marks[-1][1] if self._marks else None
        self._marks = []
        finished = []
        while self._waiting and (self._has_passed() or len(self._waiting) > MOST_WAITING):
            finished.append(self._read(*self._waiting.popleft()))
        return finished

    def finish(self) -> list[Lap]:
        laps = [self._read(*waiting) for waiting in self._waiting]
        self._waiting.clear()
        return laps

    def _has_passed(self) -> bool:
        marks = self._waiting[0][2]
        return not marks or marks[-1][1].query()

    def _read(self, lap: Lap, start: torch.cuda.Event | None, marks: list[tuple[str, torch.cuda.Event]]) -> Lap:
        if start is None or not marks or not lap.parts or not marks[-1][1].query():
            return lap
        parts: dict[str, float] = dict.fromkeys(lap.parts, 0.0)
        before = start
        with suppress(RuntimeError):  # events of two devices cannot be compared: the host's times stay
            for part, event in marks:
                parts[part] += before.elapsed_time(event) / 1000
                if len(self._pool) < MOST_MARKS:
                    self._pool.append(before)
                before = event
            lap.parts, lap.seconds = parts, sum(parts.values())
        return lap
