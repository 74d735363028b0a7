"""The watcher: holds what all probes share, and protects the training script from every one of them.

Four gears. While *examining* (the first steps, later ones on a schedule, and whenever something new happens) module
hooks and a function mode see every call. While *watching* only what is called a few times per step is looked at. While
*matching* a step runs untouched as long as it follows a pattern that was watched before. *Skipping*, between very short
steps of a simple loop, its calls are not even intercepted (see skipping.py). The budget says how many steps are
watched, and of how many statistics are taken.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING, Any, ParamSpec

import torch
from torch.nn.parameter import is_lazy
from torch.utils._python_dispatch import _disable_current_modes

from paramedic import voice
from paramedic.capture import moments
from paramedic.capture.budget import Budget
from paramedic.capture.bus import Bus
from paramedic.capture.deferred import Deferred
from paramedic.capture.moments import Moment
from paramedic.capture.names import Registry
from paramedic.capture.probe import lost_with, seen_in_calls
from paramedic.capture.stopping import StopTraining, is_over
from paramedic.capture.trainer import Trainer
from paramedic.capture.turns import Turns
from paramedic.patching import Patches
from paramedic.record.facts import Fact, Gear, ProbeFailed
from paramedic.record.writer import NOWHERE, Site, Writer
from paramedic.settings import Settings

if TYPE_CHECKING:
    from paramedic.capture.knowledge import Knowledge

P = ParamSpec("P")
FIRST_STEPS = 10  # examined from the start,
FEWER_STEPS = 4  # or so many
MANY_PARTS = 1_000  # where an optimizer holds so many tensors: each step takes long to examine, and shows a lot
MANY_NUMBERS = 100_000_000  # or so many numbers in the host's memory
AFTER_NEWS = 2  # steps examined after something new happened
AFTER_CHANGE = 6  # steps watched after the calls of a step came in an order that was never seen before
MOST_CHANGES = 16  # times that this is worth it: some loops are never the same
POLL_WHILE_MATCHING = 16  # steps,
POLL_EVERY = 0.05  # or so many seconds, if that is longer


class Watcher:
    """One per process."""

    def __init__(self, writer: Writer, settings: Settings) -> None:
        self.writer = writer
        self.settings = settings
        self.registry = Registry()
        self.patches = Patches()
        self.bus = Bus(self.ask_within)
        self.known: Knowledge  # the sources, as soon as they are there
        self.deferred = Deferred()
        self.step = 0  # optimizer steps completed; optimizers that take turns count once
        self.examining = True
        self.matching = False
        self.skipping = 0  # steps that are still to be skipped
        self.on_skipping_end: Callable[[], None] = lambda: None  # told when skipping ends early
        self.budget = Budget(settings)
        self._every_step = settings.stop_after is not None or settings.bundle_spikes  # is watched, whatever it costs
        self.sampling = self.budget.should_sample()  # statistics are being taken of this step
        self.detached: set[str] = set()
        self.asked = 0  # questions so far: as long as this grows, something is going on
        self.spent = 0.0  # seconds of the training thread's time,
        self.spent_skipping = 0.0  # and those while skipping, which no budget governs
        self.started = time.perf_counter()
        self.compiled = False  # torch.compile or torch.jit is in use: no function mode
        self.on_gear: list[Callable[[bool], None]] = []
        self.on_sampling: list[Callable[[bool], None]] = []
        self.on_watch_again: list[Callable[[], object]] = []  # called when matching ends
        self.recent: deque[tuple[int, float]] = deque(maxlen=50)  # the last losses: step, value
        self.stop_with: int | None = None  # end the script with this exit code before its next step
        self.on_count: Callable[[int], object] = lambda _: None  # told of every step, watched or not: must cost nothing
        self.turns = Turns(self)
        self.turning = False  # the loop goes round without steps of an optimizer
        self.many_parts = False
        self._examine_until = FIRST_STEPS
        self._watch_until = self._changes = 0
        self._examined = False  # at any time since the last step
        self._on_cuda = False
        self._sampling_cost = 0.0
        self._stay = 0  # optimizer steps for which the gear may not change
        self._matched = 0  # steps since matching began, or was last looked into
        self._match_for = 1  # steps after which that is due
        self._spent_before = 0.0
        self._thread = threading.local()
        self.trainer: int | None = None  # the number of the thread whose training is watched
        self.elsewhere = Trainer(self, self._thread).elsewhere
        self.closed = False

    # Safety -----------------------------------------------------------------------------------------------------

    def ask(self, probe: str, question: Callable[..., Any], *args: Any) -> Any:
        """Run a probe's code. It can neither fail, nor recurse, nor be forgotten in the bill."""
        if getattr(self._thread, "busy", False) or probe in self.detached or self.closed:
            return None
        if self._on_cuda and torch.cuda.is_current_stream_capturing():
            return None  # whatever we did would become a part of the user's graph
        started = time.perf_counter()
        self.asked += 1
        self._thread.busy = True
        try:
            with torch._C.DisableTorchFunction():  # the user's own modes must not see our operations
                if torch._C._len_torch_dispatch_stack():
                    with _disable_current_modes():
                        return question(*args)
                return question(*args)
        except Exception as error:
            self.detach(probe, error)
            return None
        finally:
            self._thread.busy = False
            self.spent += time.perf_counter() - started

    def ask_within(self, probe: str, question: Callable[..., Any], *args: Any) -> Any:
        """From inside one probe, ask another: only that one is detached when it fails."""
        if probe in self.detached:
            return None
        try:
            return question(*args)
        except Exception as error:
            self.detach(probe, error)
            return None

    def tell_each(self, moment: Moment[P], *told: P.args, **named: P.kwargs) -> None:
        """Tell of a moment from outside of any probe."""
        for probe, listener in self.bus.listeners(moment):
            self.ask(probe, listener, *told)

    @contextlib.contextmanager
    def looking_away(self) -> Iterator[None]:
        """What happens in here, in this thread, is none of the watcher's business."""
        before, self._thread.busy = self.busy, True
        try:
            yield
        finally:
            self._thread.busy = before

    def book_sampling(self, question: Callable[..., Any], *args: Any) -> None:
        """Take statistics, within `ask`: what they cost is booked for itself, and they fail for themselves."""
        if "statistics" in self.detached:
            return
        started = time.perf_counter()
        try:
            question(*args)
        except Exception as error:
            self.detach("statistics", error)
        finally:
            self._sampling_cost += time.perf_counter() - started

    @property
    def busy(self) -> bool:
        return getattr(self._thread, "busy", False)

    def detach(self, probe: str, error: Exception) -> None:
        self.detached.add(probe)
        text = f"{type(error).__name__}: {error}"
        with contextlib.suppress(Exception):
            self.state(ProbeFailed(probe=probe, error=text, kinds=lost_with(probe)))
        voice.say(f"paramedic: the probe {probe!r} failed and was detached ({text}). Training continues.")

    # Facts ------------------------------------------------------------------------------------------------------

    def state(
        self,
        fact: Fact,
        *,
        site: Site = NOWHERE,
        module: str | None = None,
        key: Hashable = None,
        phase: str | None = None,
        step: int | None = None,
    ) -> bool:
        """Record a fact; of one with a key only the first occurrence is stored, later ones are counted."""
        return self.writer.state(
            fact,
            step=self.step if step is None else step,
            phase=phase or self.phase(),
            site=site,
            module=module,
            key=key,
        )

    def phase(self) -> str:
        return "train" if torch.is_grad_enabled() else "eval"

    def read(self, numbers: torch.Tensor, use: Callable[[list[float]], object], *, copy: bool = True) -> None:
        """Use numbers that may live on an accelerator, without waiting for them."""
        self.deferred.read(numbers, use, copy=copy)

    # Gears ------------------------------------------------------------------------------------------------------

    def news(self, steps: int = AFTER_NEWS) -> None:
        """Something was seen for the first time: look closely for a while."""
        self.watch_again()
        steps = min(steps, FEWER_STEPS) if self.many_parts else steps
        self._examine_until = max(self._examine_until, self.step + steps)
        self.turns.anew(steps)
        self._shift(True)

    def expect(self, tensors: list[torch.Tensor]) -> None:
        """An optimizer of these tensors is about to take its first step."""
        numbers = sum(tensor.numel() for tensor in tensors if not is_lazy(tensor) and tensor.is_cpu)
        if (len(tensors) >= MANY_PARTS or numbers >= MANY_NUMBERS) and not self.many_parts:
            self.many_parts = True
            self._examine_until = min(self._examine_until, self.step + FEWER_STEPS)
            self.budget.take_fewer()

    def changed(self) -> None:
        """While matching: a step is not like any before."""
        self.watch_again()
        self._changes += 1
        if self._changes <= MOST_CHANGES:
            self._watch_until = self.step + AFTER_CHANGE

    def affordable(self) -> bool:
        """Whether there is time for work that is welcome but not needed at this very step."""
        return self.examining or self.budget.affords(self.step, self.spent, time.perf_counter() - self.started)

    def relax(self) -> None:
        """Nothing new is to be expected before the next optimizer step."""
        self._shift(False)

    def stepped(self, step: int, *, milestone: bool, actors: int) -> None:
        """An optimizer has completed its step; `step` is the number of steps so far.

        A milestone asks for a closer look at the next step. `actors` is the number of optimizers that take turns.
        """
        self.step = max(step, self.step)
        self.on_count(self.step)
        self.turns.stepped()
        self._book()
        spent, passed = self.spent + self.spent_skipping, time.perf_counter() - self.started
        self.budget.looked(self.step >= FIRST_STEPS, spent, passed)
        self._shift(milestone or self.step < self._examine_until)
        self._choose_gear(actors)
        self.deferred.poll()
        self.bus.tell(moments.step_taken)

    def matched(self, step: int, actors: int) -> None:
        """A step was completed that nobody watched: as little as possible is done here."""
        self.counted(step)
        if self._matched >= self._match_for or self.sampling:
            self.ask("watcher", self._end_matching, actors)

    def counted(self, step: int) -> None:
        if step > self.step:
            self.step = step
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
        self.bus.tell(moments.round_over)
        if over:
            self._choose_gear(1)

    def end_turns(self) -> None:
        """An optimizer is about to step. If none seemed to: look as closely as at any of its steps."""
        if self.turning:
            self.turning = False
            self.watch_again()
            self._shift(self.step < self._examine_until)

    def end_skipping(self) -> None:
        """Something is not as it was: intercept calls again, from here on."""
        if self.skipping:
            self.skipping = 0
            self.on_skipping_end()

    def _end_matching(self, actors: int) -> None:
        self._book()
        self.deferred.poll()
        self._choose_gear(actors)
        if not self.turning:
            self.bus.tell(moments.steps_matched)

    def _choose_gear(self, actors: int) -> None:
        if self._stay > 0:  # each optimizer has its turn before the gear changes
            self._stay -= 1
            return
        self._sample(self.budget.should_sample() and not self.turning)
        closely = self.examining or self._every_step or self.step < self._watch_until
        if closely or self.budget.should_watch():
            self.watch_again()
        else:
            self.matching = True
            most = max(POLL_WHILE_MATCHING, self.budget.steps_in(POLL_EVERY))
            self._match_for = min(self.budget.unwatched_steps(sampling=not self.turning), most)
        self._stay = 0 if self.matching and not self.sampling else actors - 1

    def watch_again(self) -> None:
        """Watch from here on, until the end of this step at least."""
        self.end_skipping()
        if self.matching:
            if self._matched:
                self._book()
            self.matching = False
            for callback in self.on_watch_again:
                callback()

    def _book(self) -> None:
        self.budget.completed(
            self.spent - self._spent_before,
            steps=max(self._matched, 1),
            examined=self._examined or self.examining,
            watched=not self.matching,
            sampled=self.sampling,
            sampling=self._sampling_cost,
        )
        self._spent_before, self._sampling_cost, self._examined, self._matched = self.spent, 0.0, False, 0
        self._on_cuda = torch.cuda.is_initialized()

    def _sample(self, sampling: bool) -> None:
        if sampling != self.sampling:
            self.sampling = sampling
            for callback in self.on_sampling:
                callback(sampling)

    def check_stop(self) -> None:
        """After a step: have all the steps that were wanted been taken?"""
        if is_over(self.settings, self.step, time.perf_counter() - self.started):
            raise StopTraining(0)

    def check_alarm(self) -> None:
        """Before a step: would it spoil the weights?"""
        if self.stop_with is not None:
            raise StopTraining(self.stop_with)

    def _shift(self, examining: bool) -> None:
        self._examined |= examining
        if examining != self.examining:
            self.examining = examining
            for callback in self.on_gear:
                callback(examining)

    def no_function_mode(self, reason: str) -> None:
        """Calls can no longer be examined one by one, because that would disturb a compiler."""
        if not self.compiled:
            self.compiled = True
            for callback in self.on_gear:
                callback(self.examining)
            self.state(Gear(reason=reason, unseen="calls", kinds=seen_in_calls()), key="compiled")

    # Life -------------------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Read what is still under way and put torch back as it was."""
        if self.closed:
            return
        self.ask("finish", self.deferred.finish)
        self.closed = True
        self.patches.undo()
        seconds = time.perf_counter() - self.started
        self.writer.set_meta(
            steps=self.step,
            seconds=round(seconds, 3),
            **self.budget.bill(self.spent + self.spent_skipping, seconds),
            coverage={
                "examined": self.budget.examined,
                "watched": self.budget.watched,
                "sampled": self.budget.sampled,
            },
            dropped=self.writer.dropped,
        )
