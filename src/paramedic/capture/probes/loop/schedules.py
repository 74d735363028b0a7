"""Learning-rate schedules: how long they are meant to last, how often they step, and what becomes of the rate."""

from __future__ import annotations

import linecache
import sys
import weakref
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler, ReduceLROnPlateau

from paramedic.aliases import Function
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.code.written import calls_method
from paramedic.capture.probe import probe
from paramedic.capture.probes.loop.plateaus import MOST_VALUES, meaning, number
from paramedic.capture.sources.ledger import Account
from paramedic.capture.watcher import Watcher
from paramedic.program.untouched import Notes, stored
from paramedic.program.where import source_at, user_frame, user_site
from paramedic.record.facts import Schedule, SchedulerStep
from paramedic.record.writer import NOWHERE, Site

SMALL = 0.01  # of the highest rate: the step at which it fell below is told; how early is too early, a rule says
_HORIZONS = ("total_steps", "T_max", "total_iters", "step_size", "T_0", "milestones", "patience")


@dataclass(slots=True)
class Course:
    """The life of one scheduler."""

    kind: str
    born: Site
    file: str = ""  # of the user's, in which it was built
    optimizer: weakref.ref[Optimizer] | None = None
    number: int | None = None  # of the optimizer
    steps: int = 0  # that the optimizer had taken when it was last looked at
    settings: dict[str, float] = field(default_factory=dict)
    calls: int = 0  # the user's
    inner: int = 0  # by another scheduler that contains it
    site: Site = NOWHERE
    peak: float = 0.0  # the highest rate so far
    last: float = 0.0
    low_since: int | None = None  # the optimizer step from which on the rate stayed below SMALL
    seen: tuple[int, int] = (0, 0)  # steps of the run and of its optimizer at the last call
    idle: int = 0  # the latest calls in a row between which its optimizer took no step, although another one did
    heir: int | None = None  # the optimizer that trains its parameters meanwhile
    heir_steps: int = 0
    first: float | None = None  # the rate that its constructor left
    target: float | None = None  # the rate it may rise to
    told: list[float] = field(default_factory=list)  # the numbers that ReduceLROnPlateau was given
    meaning: tuple[str, str] | None = None
    mode: str | None = None  # of ReduceLROnPlateau: min or max


@probe("schedulers", states=[Schedule, SchedulerStep])
class Schedulers:
    """Watches learning-rate schedulers; the step that their constructor takes is not the user's."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.loop = watcher.known.loop
        self._building = 0
        self._watched: set[type] = set()
        self._courses: Notes[Course] = Notes()
        self._all: list[Course] = []  # also of schedulers that are gone

    def install(self) -> None:
        def watched_init(original: Function) -> Function:
            def init(scheduler: LRScheduler, *args: object, **kwargs: object) -> None:
                self._watch(type(scheduler))
                self._building += 1
                try:
                    original(scheduler, *args, **kwargs)
                finally:
                    self._building -= 1
                self.watcher.ask("schedulers", self._born, scheduler)

            return init

        self.watcher.patches.wrap(LRScheduler, "__init__", watched_init)
        self.watcher.patches.wrap(ReduceLROnPlateau, "__init__", watched_init)

    def _watch(self, kind: type) -> None:
        """Patch `step` where the class, or the ancestor it takes it from, defines it."""
        owner = next((c for c in kind.__mro__ if "step" in vars(c)), None)
        if owner is None or owner in self._watched:
            return
        self._watched.add(owner)

        def watched(original: Function) -> Function:
            def step(scheduler: LRScheduler, *args: object, **kwargs: object) -> object:
                self._building += 1  # a scheduler made of schedulers steps them itself
                try:
                    result = original(scheduler, *args, **kwargs)
                finally:
                    self._building -= 1
                self.watcher.ask("schedulers", self._count, scheduler, bool(self._building))
                if isinstance(scheduler, ReduceLROnPlateau):
                    self.watcher.ask("schedulers", self._hear, scheduler, args, kwargs)
                if not self._building and not (
                    self.watcher.gears.matching and self.loop.as_before("scheduler", id(scheduler))
                ):
                    self.watcher.ask("schedulers", self._stepped, scheduler)
                return result

            return step

        self.watcher.patches.wrap(owner, "step", watched)

    def _born(self, scheduler: LRScheduler) -> None:
        frame = user_frame()
        course = Course(type(scheduler).__name__, user_site(), frame.f_code.co_filename if frame is not None else "")
        if (optimizer := stored(scheduler, "optimizer")) is not None:
            course.optimizer = weakref.ref(optimizer)
            # What a lambda is multiplied with is no rate: only what the constructor left is.
            course.peak = course.first = max(_rates(optimizer), default=0.0)
        course.settings, course.mode = _settings(scheduler), stored(scheduler, "mode")
        self._courses[scheduler] = course
        self._all.append(course)

    @on(moments.step_taken)
    def _look(self) -> None:
        """Optimizers may be gone when the script ends, so their steps are noted on the way."""
        for course in self._all:
            optimizer = course.optimizer() if course.optimizer is not None else None
            account = self.loop.books.account_behind(optimizer)
            if account is not None:
                course.number, course.steps = account.number, account.steps

    def _count(self, scheduler: LRScheduler, inner: bool) -> None:
        course = self._courses.get(scheduler)
        if course is None:
            return
        course.inner += inner
        course.calls += not inner
        optimizer = stored(scheduler, "optimizer")
        rates = _rates(optimizer) if optimizer is not None else []
        if not rates:
            return
        account = self.loop.books.account_behind(optimizer)
        if account is not None:
            course.number, course.steps = account.number, account.steps
            self._look_for_heir(course, account, optimizer)
        course.settings = _settings(scheduler)  # a subclass may have set them after torch's constructor
        course.last, course.target = max(rates), _target(optimizer)
        course.peak = max(course.peak, course.last)
        if course.last >= SMALL * course.peak:
            course.low_since = None
        elif course.low_since is None:
            course.low_since = self.watcher.step

    def _look_for_heir(self, course: Course, account: Account, optimizer: Optimizer) -> None:
        """The script may have made a new optimizer, and this schedule still moves the rate of the old one."""
        before, course.seen = course.seen, (self.watcher.step, account.steps)
        if account.steps == 0 or account.steps != before[1]:
            course.idle = 0
        elif self.watcher.step > before[0]:
            course.idle += 1
            shared = [p for group in optimizer.param_groups for p in group["params"]][:8]
            others = [a for p in shared for a in self.loop.books.accounts_of(id(p)) if a is not account and a.steps]
            course.heir, course.heir_steps = (others[-1].number, others[-1].steps) if others else (None, 0)

    def _hear(self, scheduler: LRScheduler, args: Any, kwargs: Any) -> None:
        course, given = self._courses.get(scheduler), args[0] if args else kwargs.get("metrics")
        value = number(given)
        if course is None or value is None or len(course.told) >= MOST_VALUES:
            return
        course.told.append(value)
        if len(course.told) == 1:
            course.meaning = meaning(given)

    def _stepped(self, scheduler: LRScheduler) -> None:
        optimizer = stored(scheduler, "optimizer")
        account = self.loop.books.account_behind(optimizer)
        site = user_site()
        before = account.steps == 0 if account is not None else self.watcher.step == 0
        course = self._courses.get(scheduler)
        if before and _in_constructor():
            if course is not None:
                course.calls -= 1
            return
        if course is not None:
            course.site = site
        rates = [float(group["lr"]) for group in optimizer.param_groups] if optimizer is not None else []
        self.loop.note("scheduler", site, account.number if account else None, on=id(scheduler))
        data = SchedulerStep(class_=type(scheduler).__name__, before_first_step=before, rates=rates)
        self.watcher.state(data, site=site, phase="train", key=(site, before))

    @on(moments.run_over)
    def finish(self) -> None:
        """Only the end tells how far a schedule has come."""
        self._look()
        for course in self._all[:100]:
            self.watcher.state(
                Schedule(
                    class_=course.kind,
                    born=course.born,
                    by_library=_stepped_by_library(course),
                    settings=course.settings,
                    calls=course.calls,
                    written=not course.calls and _steps_somewhere(course),
                    inner=course.inner,
                    steps=course.steps,
                    optimizer=course.number,
                    peak=course.peak,
                    last=course.last,
                    low_since=course.low_since,
                    idle=course.idle,
                    heir=course.heir,
                    heir_steps=course.heir_steps,
                    first=course.first,
                    target=course.target,
                    told=course.told,
                    meaning=course.meaning,
                    mode=course.mode,
                ),
                site=course.site if course.site.file else course.born,
                phase="train",
            )


def _steps_somewhere(course: Course) -> bool:
    """Whether the source has a call of step() that was not reached."""
    source = "".join(linecache.getlines(course.file))
    return course.born.line is not None and calls_method(source, course.born.line, "step", "sched")


def _stepped_by_library(course: Course) -> bool:
    """Whether the user's innermost line only starts a library's loop, which calls step() by itself."""
    line = source_at(course.site).splitlines()[(course.site.line or 0) - 1 :][:1]
    return bool(course.site.file and line) and "step(" not in line[0]


def _rates(optimizer: Optimizer) -> list[float]:
    """The rates of all groups; none if one of them is a tensor, which may live on an accelerator."""
    rates = [group.get("lr") for group in optimizer.param_groups]
    return [float(rate) for rate in rates] if all(isinstance(rate, (int, float)) for rate in rates) else []


def _settings(scheduler: LRScheduler) -> dict[str, float]:
    """The numbers that say how long the schedule is meant to last."""
    found = {name: stored(scheduler, name) for name in _HORIZONS}
    if isinstance(found["milestones"], dict):
        found["milestones"] = max(found["milestones"], default=None)
    return {name: float(value) for name, value in found.items() if isinstance(value, (int, float))}


def _in_constructor() -> bool:
    """Whether a scheduler's constructor is running: some call their parts' step() without the usual constructor."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_name in ("__init__", "_initial_step") and code.co_filename.endswith("lr_scheduler.py"):
            return True
        frame = frame.f_back
    return False


def _target(optimizer: Optimizer) -> float | None:
    """OneCycleLR rises to what it has written into the groups; others to the rate that the optimizer was given."""
    highest = [group.get("max_lr", group.get("initial_lr")) for group in optimizer.param_groups]
    return max((float(rate) for rate in highest if isinstance(rate, int | float)), default=None)
