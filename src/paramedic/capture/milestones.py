"""The steps that are examined call by call after the first ones, ever further apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paramedic.capture.budget import DEAR

if TYPE_CHECKING:
    from paramedic.capture.watcher import Watcher

SURE = 64  # steps; later milestones wait until the budget allows them,
SURE_IF_MANY = 8  # as do those after so many where a look at all parts takes long,
SURE_IF_CHEAP = 1024  # or come all the same where a look is cheap: a small model, and soon over


class Milestones:
    """Late faults and late recoveries are both seen, at a price that a long run does not feel."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._owed = False  # one went by that could not be paid for

    def due(self, steps: int) -> bool:
        """Whether the step after this many is to be examined."""
        self._owed |= is_milestone(steps) and not (self.watcher.gears.many_parts and steps & (steps - 1))
        sure = steps <= (SURE_IF_MANY if self.watcher.gears.many_parts else SURE) or self._is_cheap(steps)
        if self._owed and (sure or self.watcher.gears.affordable()):
            self._owed = False
            return True
        return False

    def _is_cheap(self, steps: int) -> bool:
        return steps <= SURE_IF_CHEAP and self.watcher.gears.budget.examination < DEAR


def is_milestone(steps: int) -> bool:
    """1, 2, 3, 4, 6, 8, 12, 16, 24 …"""
    return steps > 0 and (steps & (steps - 1) == 0 or (steps % 3 == 0 and (third := steps // 3) & (third - 1) == 0))


def next_milestone(steps: int) -> int:
    """The first one after so many steps."""
    power = 1 << steps.bit_length()  # the next power of two; 3/4 of it is a milestone as well
    return middle if (middle := 3 * power // 4) > steps and is_milestone(middle) else power
