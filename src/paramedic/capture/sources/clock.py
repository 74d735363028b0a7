"""Where the time goes: every moment of the training thread belongs to exactly one part of the loop."""

from __future__ import annotations

import threading
import time
from collections import deque
from statistics import median
from typing import Any

import torch

from paramedic.aliases import Function
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.device_clock import DeviceClock
from paramedic.capture.moments import Lap
from paramedic.capture.watcher import Watcher
from paramedic.record.facts import SlowStep
from paramedic.record.writer import Site

DATA, MOVE, FORWARD, BACKWARD, OPTIMIZER, EVALUATION, OTHER = PARTS = (
    "data", "to_device", "forward", "backward", "optimizer", "evaluation", "other",
)  # fmt: skip
SLOW = 3.0  # times the median step
SLOW_BY = 0.01  # seconds more than the median: less is noise
MOST_SLOW = 1_000  # slow steps told of
WORTHWHILE = 0.005  # seconds of a step that is timed even while the watcher is matching
WORTHWHILE_ON_DEVICE = 0.1  # the same where events are recorded for it, which takes longer; of shorter steps,
TIMED_ON_DEVICE = 8  # one in so many
REMEMBERED = 101  # steps that the median is taken of
MEDIAN_EVERY = 16  # steps


class Clock:
    """A stopwatch with one hand per part of the loop. Only the thread that trains is timed."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.part = OTHER
        self.thread = threading.get_ident()
        self.typical: float | None = None  # the median step, in seconds
        self.seen: list[Site] = []  # filled by the sampler
        self.evaluating = False  # the last batch was for an evaluation
        self.device = DeviceClock()
        self._parts = dict.fromkeys(PARTS, 0.0)
        self._marks: set[str] = set()
        self._recent: deque[float] = deque(maxlen=REMEMBERED)
        self._laps = 0
        self._told = 0
        self._training_loaders: set[int] = set()
        self._loader: int | None = None
        self._measured = (0.0, 0.0)  # seconds of evaluation before the last batch was asked for, and when it was there
        self._since = self._lap_began = time.perf_counter()
        self._spent = self._spent_before = 0.0
        self._last_step = 0
        self._started = False
        self._gap = False  # parts of this lap were not timed
        self._disturbed = False  # this lap was looked at closely

    @on(moments.forked)
    def restart(self, name: str) -> None:
        """In a forked child, which has one thread: this one."""
        self.thread, self._started = threading.get_ident(), False
        self._last_step = self.watcher.step

    # Marks ------------------------------------------------------------------------------------------------------

    @property
    def idle(self) -> bool:
        """The watcher is matching, and steps are so short that a look at the clock would be felt."""
        if not self.watcher.gears.matching:
            return False
        if self.typical is None or self.typical < WORTHWHILE:
            return True
        return self.device.active and self.typical < WORTHWHILE_ON_DEVICE and self.watcher.step % TIMED_ON_DEVICE != 0

    def skip(self) -> None:
        """For some steps nobody will look at the clock."""
        self._gap = True

    def switch(self, part: str) -> str:
        """From now on time belongs to this part. Returns the part that it belonged to, for switching back."""
        before = self.part
        if self.idle:
            self._gap = True
            return before
        if threading.get_ident() != self.thread or "clock" in self.watcher.guard.detached:
            return before
        try:
            self._switch(before)
        except Exception as error:
            self.watcher.guard.detach("clock", error)
        self.part = part
        return before

    def _switch(self, before: str) -> None:
        now, spent = time.perf_counter(), self.watcher.guard.spent
        if not self._started:  # what came before was no training
            self._started = True
            self._since = self._lap_began = now
            self._spent = self._spent_before = spent
            self.watcher.known.sampler.start()
        # What the probes themselves took is not the script's time.
        self._parts[before] += now - self._since - (spent - self._spent)
        self._since, self._spent = now, spent
        self._disturbed |= self.watcher.gears.examining or (self.watcher.gears.sampling and self.device.active)
        self.device.mark(before)

    def timed(self, part: str, call: Function, *args: object, **kwargs: object) -> Any:
        """Call something whose time belongs to this part."""
        before = self.switch(part)
        try:
            return call(*args, **kwargs)
        finally:
            self.switch(OTHER if part == BACKWARD and before != OPTIMIZER else before)

    def next_batch(self, loader: int | None, fetch: Function, *args: object) -> object:
        """A loader's next batch: waiting for it is data time, what follows is forward pass or evaluation."""
        self.evaluating = self._is_evaluation(loader)
        self.switch(EVALUATION if self.evaluating else DATA)
        asked = self._parts[EVALUATION]
        following = OTHER  # after the last batch
        try:
            batch = fetch(*args)
            following = EVALUATION if self.evaluating else FORWARD
            return batch
        finally:
            self.switch(following)
            if following != OTHER and threading.get_ident() == self.thread:
                self._loader = loader
                if self.evaluating:
                    self._measured = (asked, self._parts[EVALUATION])
                    self._marks.add("evaluation")
                    self.watcher.bus.tell(moments.evaluation_timed, self._parts[EVALUATION])

    def _is_evaluation(self, loader: int | None) -> bool:
        """Whether this loader's batches are only measured: without gradients, or by a loader never trained on."""
        if not torch.is_grad_enabled():
            return True
        return bool(self._training_loaders) and loader is not None and loader not in self._training_loaders

    def started_epoch(self) -> None:
        self._marks.add("epoch")

    def backward_began(self) -> None:
        if self._loader is not None and not (self.evaluating and not torch.is_grad_enabled()):
            self._training_loaders.add(self._loader)
            if self.evaluating and threading.get_ident() == self.thread:
                self._take_back()
            self.evaluating = False

    def _take_back(self) -> None:
        """A loader that is made anew for each epoch is known as one of training at its first backward pass only."""
        self.switch(FORWARD)
        asked, given = self._measured
        self._parts[DATA] += given - asked
        self._parts[FORWARD] += self._parts[EVALUATION] - given
        self._parts[EVALUATION] = asked
        if not asked:
            self._marks.discard("evaluation")
        self.watcher.bus.tell(moments.trained_after_all)

    def follow(self, parameters: list[torch.Tensor]) -> None:
        """These are being trained: by this thread, on their device."""
        if not self._laps:
            self.thread = threading.get_ident()
        if parameters:
            self.device.follow(parameters[0].device)

    def step_began(self) -> None:
        self.switch(OPTIMIZER)

    def step_ended(self) -> None:
        self.switch(OTHER)

    # Laps -------------------------------------------------------------------------------------------------------

    def matched(self) -> None:
        """A step was completed that nobody watched."""
        if not (self._gap and self.idle) and "clock" not in self.watcher.guard.detached:
            if self._gap:  # matching ends here, and with it what nobody timed
                self._since, self._spent = time.perf_counter(), self.watcher.guard.spent
            try:
                gap = self._gap
                self._stepped(watched=False)
                if gap:
                    self.device.restart()
            except Exception as error:
                self.watcher.guard.detach("clock", error)

    @on(moments.step_taken)
    def _watched(self) -> None:
        self._stepped()

    def _stepped(self, *, watched: bool = True) -> None:
        steps = self.watcher.step - self._last_step
        if steps <= 0 or threading.get_ident() != self.thread:
            return
        # The lap has ended where the optimizer's step did: what the probes did since then is not the script's.
        # Without a loader nobody knows where one step's bookkeeping ends and the next one's forward pass begins.
        self.part = FORWARD if self._loader is None else OTHER
        total = self._since - self._lap_began - (self._spent - self._spent_before)
        lap = Lap(
            step=self.watcher.step,
            seconds=max(total, 0.0),
            parts={} if self._gap else self._parts,
            steps=steps,
            watched=watched and not self._gap,
            examined=self._disturbed,
            marks=self._marks,
            seen=self.seen,
        )
        self._parts, self._marks, self.seen = dict.fromkeys(PARTS, 0.0), set(), []
        self._measured = (0.0, 0.0)
        self._lap_began, self._spent_before = self._since, self._spent
        self._last_step = self.watcher.step
        self._gap = self._disturbed = False
        self._laps += 1
        for finished in self.device.lap(lap):
            self._tell(finished)

    @on(moments.run_over)
    def finish(self) -> None:
        """The run is over: tell of the steps since the last lap, and the laps whose events have not been read yet."""
        if self.watcher.step > self._last_step:
            self._gap, self._since, self._spent = True, time.perf_counter(), self.watcher.guard.spent
            self._stepped(watched=False)
        for lap in self.device.finish():
            self._tell(lap)

    def _tell(self, lap: Lap) -> None:
        each = lap.seconds / lap.steps
        self.watcher.writer.point("time:step", lap.step, each)
        self._recent.append(each)
        if self._laps % MEDIAN_EVERY == 0 or self.typical is None:
            self.typical = median(self._recent)
        elif (
            lap.parts
            and each > max(SLOW * self.typical, self.typical + SLOW_BY)
            and not lap.examined
            and self._told < MOST_SLOW
        ):
            self._told += 1
            self._tell_slow(lap)
        self.watcher.bus.tell(moments.lap_over, lap)

    def _tell_slow(self, lap: Lap) -> None:
        slow = SlowStep(
            seconds=lap.seconds,
            typical=self.typical or 0.0,
            parts=_rounded(lap.parts),
            marks=sorted(lap.marks),
            seen=list(lap.seen)[:20],
        )
        self.watcher.state(slow, phase="train", step=lap.step - 1)


def _rounded(parts: dict[str, float]) -> dict[str, float]:
    return {name: round(seconds, 6) for name, seconds in parts.items() if seconds > 0}
