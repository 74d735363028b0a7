"""What it may cost to run a training step again."""

from __future__ import annotations

import time

from paramedic.capture.watcher import Watcher


class Price:
    """Follows the fastest step so far, in seconds of the processor, whoever else uses it."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._last = 0.0
        self._step_time = float("inf")

    def stepped(self) -> None:
        """A step of the training is over."""
        now, before = time.process_time(), self._last
        self._last = now
        self._step_time = min(self._step_time, now - before)

    def forget(self) -> None:
        """What was done since the last step is not the program's."""
        self._last = time.process_time()

    def allows(self, runs: float, grace: float) -> bool:
        """Whether so many runs of the whole step are within the budget, or within some seconds that nobody minds."""
        elapsed = time.perf_counter() - self.watcher.started
        return runs * self._step_time < grace + self.watcher.settings.budget * elapsed
