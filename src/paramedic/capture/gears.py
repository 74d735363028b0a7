"""How closely the training is looked at: which sources publish, and for how many steps.

While *examining* (the first steps, later ones on a schedule, and whenever something new happens) module hooks and a
function mode see every call. While *watching* only what is called a few times per step is looked at. While *matching* a
step runs untouched as long as it follows a pattern that was watched before. *Skipping*, between very short steps of a
simple loop, its calls are not even intercepted (see skipping.py). The budget says how many steps are watched, and of
how many statistics are taken.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch.nn.parameter import is_lazy

from paramedic.capture import moments
from paramedic.capture.budget import Budget
from paramedic.capture.probe import seen_in_calls
from paramedic.capture.turns import Turns
from paramedic.record.facts import Gear

if TYPE_CHECKING:
    from paramedic.capture.watcher import Watcher

FIRST_STEPS = 10  # examined from the start,
FEWER_STEPS = 4  # or so many
MANY_PARTS = 1_000  # where an optimizer holds so many tensors: each step takes long to examine, and shows a lot
MANY_NUMBERS = 100_000_000  # or so many numbers in the host's memory
AFTER_NEWS = 2  # steps examined after something new happened
AFTER_CHANGE = 6  # steps watched after the calls of a step came in an order that was never seen before
MOST_CHANGES = 16  # times that this is worth it: some loops are never the same
POLL_WHILE_MATCHING = 16  # steps,
POLL_EVERY = 0.05  # or so many seconds, if that is longer


class Gears:
    """One per watcher. Sources ask which gear is in, and are told when it changes."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.guard = watcher.guard
        self.budget = Budget(watcher.settings)
        self.turns = Turns(watcher, self)
        self.examining = True
        self.matching = False
        self.skipping = 0  # steps that are still to be skipped
        self.sampling = self.budget.should_sample()  # statistics are being taken of this step
        self.compiled = False  # torch.compile or torch.jit is in use: no function mode
        self.turning = False  # the loop goes round without steps of an optimizer
        self.many_parts = False
        self.on_gear: list[Callable[[bool], None]] = []
        self.on_sampling: list[Callable[[bool], None]] = []
        self.on_watch_again: list[Callable[[], object]] = []  # called when matching ends
        self.on_skipping_end: Callable[[], None] = lambda: None  # told when skipping ends early
        self.on_count: Callable[[int], object] = lambda _: None  # told of every step, watched or not: must cost nothing
        self.spent_skipping = 0.0  # seconds of the training thread's time, which no budget governs
        settings = watcher.settings
        self._every_step = settings.stop_after is not None or settings.bundle_spikes  # is watched, whatever it costs
        self._examine_until = FIRST_STEPS
        self._watch_until = self._changes = 0
        self._examined = False  # at any time since the last step
        self._stay = 0  # optimizer steps for which the gear may not change
        self._matched = 0  # steps since matching began, or was last looked into
        self._match_for = 1  # steps after which that is due
        self._spent_before = 0.0

    # Closer, or further away ------------------------------------------------------------------------------------

    def news(self, steps: int = AFTER_NEWS) -> None:
        """Something was seen for the first time: look closely for a while."""
        self.watch_again()
        steps = min(steps, FEWER_STEPS) if self.many_parts else steps
        self._examine_until = max(self._examine_until, self.watcher.step + steps)
        self.turns.anew(steps)
        self._shift(True)

    def expect(self, tensors: list[torch.Tensor]) -> None:
        """An optimizer of these tensors is about to take its first step."""
        numbers = sum(tensor.numel() for tensor in tensors if not is_lazy(tensor) and tensor.is_cpu)
        if (len(tensors) >= MANY_PARTS or numbers >= MANY_NUMBERS) and not self.many_parts:
            self.many_parts = True
            self._examine_until = min(self._examine_until, self.watcher.step + FEWER_STEPS)
            self.budget.take_fewer()

    def changed(self) -> None:
        """While matching: a step is not like any before."""
        self.watch_again()
        self._changes += 1
        if self._changes <= MOST_CHANGES:
            self._watch_until = self.watcher.step + AFTER_CHANGE

    def affordable(self) -> bool:
        """Whether there is time for work that is welcome but not needed at this very step."""
        passed = time.perf_counter() - self.watcher.started
        return self.examining or self.budget.affords(self.watcher.step, self.guard.spent, passed)

    def relax(self) -> None:
        """Nothing new is to be expected before the next optimizer step."""
        self._shift(False)

    def watch_again(self) -> None:
        """Watch from here on, until the end of this step at least."""
        self.end_skipping()
        if self.matching:
            if self._matched:
                self._book()
            self.matching = False
            for callback in self.on_watch_again:
                callback()

    def end_skipping(self) -> None:
        """Something is not as it was: intercept calls again, from here on."""
        if self.skipping:
            self.skipping = 0
            self.on_skipping_end()

    def no_function_mode(self, reason: str) -> None:
        """Calls can no longer be examined one by one, because that would disturb a compiler."""
        if not self.compiled:
            self.compiled = True
            for callback in self.on_gear:
                callback(self.examining)
            self.watcher.state(Gear(reason=reason, unseen="calls", kinds=seen_in_calls()), key="compiled")

    # The loop goes on -------------------------------------------------------------------------------------------

    def stepped(self, step: int, *, milestone: bool, actors: int) -> None:
        """An optimizer has completed its step; `step` is the number of steps so far.

        A milestone asks for a closer look at the next step. `actors` is the number of optimizers that take turns.
        """
        watcher = self.watcher
        watcher.step = max(step, watcher.step)
        self.on_count(watcher.step)
        self.turns.stepped()
        self._book()
        spent, passed = self.guard.spent + self.spent_skipping, time.perf_counter() - watcher.started
        self.budget.looked(watcher.step >= FIRST_STEPS, spent, passed)
        self._shift(milestone or watcher.step < self._examine_until)
        self._choose(actors)
        watcher.poll()
        watcher.bus.tell(moments.step_taken)

    def matched(self, step: int, actors: int) -> None:
        """A step was completed that nobody watched: as little as possible is done here."""
        self.counted(step)
        if self._matched >= self._match_for or self.sampling:
            self.guard.ask("watcher", self._end_matching, actors)

    def counted(self, step: int) -> None:
        if step > self.watcher.step:
            self.watcher.step = step
            self.on_count(step)
        self._matched += 1

    def matching_left(self) -> int:
        """Steps that may go by before somebody looks again."""
        return self._match_for - self._matched if self.matching and not self.sampling else 0

    def turned(self, closely: bool, over: bool) -> None:
        """The loop has gone round without a step. Where there will be none, gears change as if there had been one."""
        self.turning = True
        if over:
            self._book()
        self._shift(closely)
        self.watcher.bus.tell(moments.round_over)
        if over:
            self._choose(1)

    def end_turns(self) -> None:
        """An optimizer is about to step. If none seemed to: look as closely as at any of its steps."""
        if self.turning:
            self.turning = False
            self.watch_again()
            self._shift(self.watcher.step < self._examine_until)

    def _end_matching(self, actors: int) -> None:
        self._book()
        self.watcher.poll()
        self._choose(actors)
        if not self.turning:
            self.watcher.bus.tell(moments.steps_matched)

    # Changing gear ----------------------------------------------------------------------------------------------

    def _choose(self, actors: int) -> None:
        if self._stay > 0:  # each optimizer has its turn before the gear changes
            self._stay -= 1
            return
        self._sample(self.budget.should_sample() and not self.turning)
        closely = self.examining or self._every_step or self.watcher.step < self._watch_until
        if closely or self.budget.should_watch():
            self.watch_again()
        else:
            self.matching = True
            most = max(POLL_WHILE_MATCHING, self.budget.steps_in(POLL_EVERY))
            self._match_for = min(self.budget.unwatched_steps(sampling=not self.turning), most)
        self._stay = 0 if self.matching and not self.sampling else actors - 1

    def _shift(self, examining: bool) -> None:
        self._examined |= examining
        if examining != self.examining:
            self.examining = examining
            for callback in self.on_gear:
                callback(examining)

    def _sample(self, sampling: bool) -> None:
        if sampling != self.sampling:
            self.sampling = sampling
            for callback in self.on_sampling:
                callback(sampling)

    def _book(self) -> None:
        guard = self.guard
        self.budget.completed(
            guard.spent - self._spent_before,
            steps=max(self._matched, 1),
            examined=self._examined or self.examining,
            watched=not self.matching,
            sampled=self.sampling,
            sampling=guard.spent_sampling,
        )
        self._spent_before, guard.spent_sampling, self._examined, self._matched = guard.spent, 0.0, False, 0
        guard.on_cuda = torch.cuda.is_initialized()
