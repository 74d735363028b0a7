"""Time facts for the record: many laps in one fact, so that a long run stays small."""

from __future__ import annotations

import time

from paramedic.aliases import Fields
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.moments import Lap
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.record.facts import Time

SHORTEST = 0.5  # seconds covered by one fact
SHARE = 1 / 200  # of the run's length so far: the number of facts grows with the logarithm of the run's length


@probe("windows", states=[Time])
class Windows:
    """Adds up laps and tells them window by window.

    Laps that were examined are kept apart: looking closely slows them down, but only they know the copies to a device.
    """

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.clock = watcher.known.clock
        self._began = self._opened = time.perf_counter()
        self._sums: dict[bool, Fields] = {}

    @on(moments.lap_over)
    def _add(self, lap: Lap) -> None:
        if not lap.parts:
            return
        sums = self._sums.setdefault(lap.examined, {"steps": 0, "seconds": 0.0, "parts": {}})
        sums["steps"] += lap.steps
        sums["seconds"] += lap.seconds
        for part, seconds in lap.parts.items():
            if seconds > 0:
                sums["parts"][part] = sums["parts"].get(part, 0.0) + seconds
        now = time.perf_counter()
        if now - self._opened > max(SHORTEST, SHARE * (now - self._began)):
            self._opened = now
            self.tell()

    @on(moments.run_over)
    def tell(self) -> None:
        """Write the window that is open, and open the next."""
        for examined, sums in self._sums.items():
            data = Time(**sums, examined=examined, device="cuda" if self.clock.device.active else "cpu")
            self.watcher.state(data, phase="train")
        self._sums = {}
