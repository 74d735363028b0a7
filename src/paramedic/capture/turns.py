"""Loops that no optimizer closes: updates by hand, gradients that are only looked at, evaluation, inference.

Where an optimizer steps, its steps say when what was kept for one round of the loop is over, and when to look less
closely. Where none does, each backward pass is the end of a round; where there is none either, calls are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from paramedic.capture.milestones import is_milestone, next_milestone

if TYPE_CHECKING:
    from paramedic.capture.gears import Gears
    from paramedic.capture.rhythm import Beat
    from paramedic.capture.watcher import Watcher

FIRST_TURNS = 16  # examined, where there is no optimizer
MOST_ACCUMULATED = 64  # backward passes that an optimizer's step may gather, each of which is examined
GIVEN_UP = 1024  # backward passes without a step: no optimizer is at work any more
MOST_CALLS = 256  # of models or losses, with never a backward pass


class Turns:
    """Counts rounds of the loop since the last step of an optimizer."""

    def __init__(self, watcher: Watcher, gears: Gears) -> None:
        self.watcher = watcher
        self.gears = gears
        self.alone: Callable[[], bool] = lambda: True  # whether there is no optimizer that could step
        self.on_turn: Callable[[], list[Beat]] = list  # told of each round, watched or not; returns its calls
        self.on_matched: Callable[[list[Beat]], object] = lambda _: None  # told of rounds that nobody watched
        self._passes = self._calls = 0
        self.total = 0  # backward passes, steps or not
        self._close = FIRST_TURNS  # rounds that are still to be examined
        self._over = False  # no optimizer is at work

    def stepped(self) -> None:
        """An optimizer has: these are no rounds, but parts of one."""
        self._passes = self._calls = 0
        self._over = self.gears.turning = False

    def anew(self, steps: int) -> None:
        """Something new has come: look closely for as long as so many steps would take."""
        self._close = max(self._close, 2 * steps)
        self._calls = 0
        self._over = False

    def passed(self) -> None:
        """A backward pass is over, or gradients were asked for."""
        if self.watcher.guard.busy or (self.gears.matching and not self.gears.turning):
            return
        self._calls = 0
        self._passes += 1
        self.total += 1
        self._close -= 1
        self._over = self._over or self.alone() or self._passes > GIVEN_UP
        if self._close < 0 and (self._over or self._passes >= MOST_ACCUMULATED):
            self._turn(closely=is_milestone(self.total))

    def called(self, *, asked: bool = False) -> None:
        """A model or a loss was called; `asked`: by a probe that was asked about it."""
        gears, busy = self.gears, self.watcher.guard.busy
        if self._passes or busy is not asked or (gears.matching and not gears.turning):
            return
        self._calls += 1
        if self._calls >= MOST_CALLS and self.alone():
            self._over = True
            self._turn(closely=False)

    def skipped(self) -> None:
        """A round has gone by without being intercepted."""
        self.total += 1
        self.gears.counted(self.watcher.step)

    def until_milestone(self) -> int:
        """Rounds until the next one that is to be examined."""
        return next_milestone(self.total) - self.total

    def _turn(self, *, closely: bool) -> None:
        guard, gears, over = self.watcher.guard, self.gears, self._over
        path = self.on_turn() if over else []
        if gears.matching and not closely:
            gears.matched(self.watcher.step, 1)
            if over and gears.matching_left() > 1:
                self.on_matched(path)
        elif guard.busy:
            guard.ask_within("watcher", gears.turned, closely, over)
        else:
            guard.ask("watcher", gears.turned, closely, over)
