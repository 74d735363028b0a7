"""What watching may cost, what it did cost, and which of the next steps are therefore watched or sampled."""

from __future__ import annotations

import math
import random
import time

from paramedic.settings import DEFAULT_BUDGET, Settings

# What is looked at first goes by counts, so that a busy machine finds what an idle one finds. The clock has a say only
# where a look is dear even when nothing disturbs it: the fastest one so far tells.
SURE_WATCHED, SURE_SAMPLED = 128, 512  # steps in which the clock is not asked
FURTHER = 6  # samples are taken this much further apart with each one: a sixth of the steps so far
DEAR = 0.03  # seconds of the fastest look,
ENOUGH = 32  # among so many
SURE_STEPS, SURE_SECONDS = 256, 3.0  # in which small looks are always afforded, up to so much of our time
LONGEST_REST = 512  # steps between two that are watched, however short they are
LONGEST_PAUSE = 10_000  # steps between two samples
CLOSE_SAMPLES = 4  # one after the other, whatever they cost: as training starts, which says much, and after an alarm
FEWER_SAMPLES, FEWER_WATCHED = 2, 12  # of models with very many tensors
MOST_BEGINNINGS = 8  # optimizers that are looked at closely; a script may build one for each task
DEAREST = 2.0  # times the time we know of that we may have cost; more is the machine's doing
_NEW = 0.2  # weight of a new measurement in a running mean


class Mean:
    """A running mean that forgets."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: float | None = None

    def add(self, number: float) -> None:
        self.value = number if self.value is None else (1 - _NEW) * self.value + _NEW * number


class Budget:
    """Half of the budget pays for watching calls, half for statistics."""

    def __init__(self, settings: Settings) -> None:
        self.statistics = settings.every is not None or settings.budget > 0
        self.every = settings.every
        self._each_step = settings.log_every is not None  # the log tells of all steps
        self.share = settings.budget or DEFAULT_BUDGET  # of the run's time; without statistics, watching keeps it
        # Seconds that an examined step, a watched one and a sample took us at least.
        self.examination = self._watching = self._sampling = math.inf
        self._step = Mean()  # seconds of a step, without us
        self._watch = Mean()  # seconds that watching a step adds
        self._sample = Mean()  # seconds that a sample adds on top
        self._device = Mean()  # and seconds that it takes an accelerator,
        self._on_device = math.inf  # at least;
        self._device_looks = 0  # known of so many samples
        self._last, self._last_busy = time.perf_counter(), time.thread_time()
        self._since_watch = self._since_sample = self._steps = 0
        self._samples = 0
        self._random = random.Random(0)  # of our own: the script's random state is not ours to touch
        self._wait = 1.0  # the next pause is this much longer or shorter, so as not to keep step with the loop
        self._beginnings = 0
        self._sure_watched = SURE_WATCHED
        self.close_samples = CLOSE_SAMPLES
        self._first_look: tuple[float, float] | None = None  # when it was over: our seconds, and all seconds
        self._close = CLOSE_SAMPLES  # samples still to be taken one after the other
        self._quiet_until = 0  # alarms before this many samples change nothing: each one doubles the wait
        self._patience = 16
        self.examined = self.watched = self.sampled = 0  # steps, for the report,
        self.slowed = 0.0  # and the seconds by which watched steps took longer than what we spent in them

    def completed(
        self, spent: float, *, steps: int, examined: bool, watched: bool, sampled: bool, sampling: float
    ) -> None:
        """A step is over, or several that nobody watched. They cost us `spent` seconds, `sampling` for statistics."""
        now, busy = time.perf_counter(), time.thread_time()
        elapsed, self._last = now - self._last, now
        at_work, self._last_busy = busy - self._last_busy, busy
        self.examined += examined
        self.watched += watched
        self.sampled += sampled
        if examined:
            # On a busy machine the clock runs on while others have their turn: the thread's own time is an upper limit
            # as well, but for what an accelerator does meanwhile.
            alone = at_work > 0 and self._device.value is None
            self.examination = min(self.examination, spent, at_work if alone else spent)
        else:
            # What is looked up again and again slows down more than itself: the step shows by how much.
            cost = spent if self._step.value is None else min(max(spent, elapsed - self._step.value), DEAREST * spent)
            self._step.add(max(elapsed - (cost if watched else spent), 1e-7) / steps)
            if watched:
                self._watch.add(cost - sampling)
                self._watching = min(self._watching, spent - sampling)
                self.slowed += cost - spent
        if sampled:
            self._samples += 1
            self._close = max(0, self._close - 1)
            if self._samples <= CLOSE_SAMPLES:
                self._sample.value = None  # warming up costs more than it ever will again
            self._wait = self._random.uniform(0.75, 1.25)
            self._sample.add(sampling)
            self._sampling = min(self._sampling, sampling)
        self._steps += steps
        self._since_watch = 0 if watched or examined else self._since_watch + steps
        self._since_sample = 0 if sampled else self._since_sample + steps

    def affords(self, step: int, spent: float, elapsed: float) -> bool:
        """Whether there is time for a small look at this step."""
        return (step < SURE_STEPS and spent < SURE_SECONDS) or spent < self.share * elapsed

    def looked(self, over: bool, spent: float, elapsed: float) -> None:
        """Whether the first look is over, so many seconds after the start; the first time counts."""
        if over and self._first_look is None:
            self._first_look = (spent + self.slowed, elapsed)

    def bill(self, spent: float, seconds: float) -> dict[str, float]:
        """What watching took: of the whole run, of the first look in seconds, and of the time after it."""
        cost = spent + self.slowed
        first, elapsed = self._first_look or (cost, seconds)
        found = {"overhead": cost / max(seconds, 1e-9), "first_look": first}
        if elapsed < seconds:
            found["steady"] = (cost - first) / (seconds - elapsed)
        return {name: round(value, 5) for name, value in found.items()}

    def device_time(self, seconds: float) -> None:
        """What statistics cost on an accelerator, known later than what they cost here."""
        self._device_looks += 1
        if self._device_looks <= CLOSE_SAMPLES:
            self._device.value = None  # kernels are loaded when they are first used
        self._device.add(seconds)
        self._on_device = min(self._on_device, seconds)

    def should_watch(self) -> bool:
        return self._until_watched() <= 0

    def should_sample(self) -> bool:
        return self._until_sampled() <= 0

    def unwatched_steps(self, *, sampling: bool = True) -> int:
        """Steps until the next one that should be watched or sampled."""
        until = min(self._until_watched(), self._until_sampled()) if sampling else self._until_watched()
        return max(1, math.ceil(until))

    def steps_in(self, seconds: float) -> int:
        return int(seconds / self._step.value) if self._step.value else 1

    def _until_watched(self) -> float:
        if self._each_step or (self._steps < self._sure_watched and (self._watching < DEAR or self.watched < ENOUGH)):
            return 0
        return self._interval(self._watch.value, LONGEST_REST) - self._since_watch - 1

    def _until_sampled(self) -> float:
        if not self.statistics:
            return math.inf
        if self.every is not None:
            return self.every - self._since_sample - 1
        if self._close:
            return 0
        on_device = self._on_device if self._device_looks else 0.0
        if self._steps < SURE_SAMPLED and self._sampling + on_device < DEAR:
            return max(1, self._steps // FURTHER) - self._since_sample - 1
        cost = None if self._sample.value is None else self._sample.value + (self._device.value or 0.0)
        return self._wait * self._interval(cost, LONGEST_PAUSE) - self._since_sample - 1

    def take_fewer(self) -> None:
        """Each look will take long, and show a lot."""
        self._sure_watched = FEWER_WATCHED
        self.close_samples = FEWER_SAMPLES
        self._close = min(self._close, FEWER_SAMPLES)

    def begins_anew(self) -> None:
        """Another optimizer has come: another part of the training begins, and how that starts says much, too."""
        self._beginnings += 1
        if self._beginnings <= MOST_BEGINNINGS:
            self._close = max(self._close, self.close_samples)

    def alarm(self) -> None:
        """Something remarkable was sampled: look closely for a while, then less and less readily."""
        if self._samples >= self._quiet_until:
            self._close = self.close_samples
            self._patience *= 2
            self._quiet_until = self._samples + self._patience

    def _interval(self, cost: float | None, longest: int) -> int:
        if cost is None:
            return 1
        if self._step.value is None:  # all steps so far were examined: only a cheap look is repeated at once
            return 1 if min(cost, self._sampling) < DEAR else longest
        return min(longest, max(1, math.ceil(2 * cost / (self.share * self._step.value))))
