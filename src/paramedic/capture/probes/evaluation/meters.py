"""Meters that the user wrote (`AverageMeter` and the like): does each pass of an evaluation begin with an empty one?

They are plain objects, so they are looked for in the frames that begin the pass; their numbers are read, and nothing
of them is called.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType

from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.code.meters import meter
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.untouched import attributes
from paramedic.program.where import frame_site, locals_of, shown_path, user_frame
from paramedic.record.facts import MetricNotReset
from paramedic.record.site import Site

FRAMES = 4  # functions that call functions
DEPTH = 4  # a trainer's dictionary of boards of meters
MOST_OBJECTS = 300
LOOKS_IN_VAIN = 12


@dataclass(frozen=True, slots=True)
class Held:
    """What a meter had added up at some moment."""

    total: float
    count: float


@dataclass(slots=True, kw_only=True)
class Pass:
    """A pass over a loader, and what each meter held when it began."""

    loader: int
    step: int
    site: Site
    began: float
    meters: dict[int, object]
    before: dict[int, Held]
    batches: int = 0
    last: float = 0.0  # seconds until the last of them

    def is_clock(self, grown: float) -> bool:
        """Whether this sum grows as time does: a stopwatch may well run on. Of one batch this cannot be told."""
        seconds = self.last * self.batches / (self.batches - 1) if self.batches > 1 else 0.0
        return seconds == 0 or 0.5 < grown / seconds < 1.5


@probe("meters", states=[MetricNotReset])
class Meters:
    """Compares what a meter holds from one evaluation on a loader to the next."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._running: Pass | None = None
        self._held: dict[tuple[int, int], float] = {}  # counts when an evaluation was over, by loader and meter
        self._vain = 0

    @on(moments.pass_began)
    def began(self, number: int, loader: object) -> None:
        self._over()
        frame = user_frame()
        if frame is None or self._vain >= LOOKS_IN_VAIN:
            return
        meters = dict(_meters(frame))
        self._vain = 0 if meters else self._vain + 1
        if meters:
            before = {key: _held(one) for key, one in meters.items()}
            self._running = Pass(
                loader=number,
                step=self.watcher.step,
                site=frame_site(frame),
                began=time.perf_counter(),
                meters=meters,
                before=before,
            )

    @on(moments.batch_arrived)
    def arrived(self) -> None:
        if self._running is not None:
            self._running.batches += 1
            self._running.last = time.perf_counter() - self._running.began

    @on(moments.run_over)
    def ended(self) -> None:
        self._over()

    def _over(self) -> None:
        """The pass that was under way is over. One in which the model was trained is not an evaluation."""
        last, self._running = self._running, None
        if last is None or last.step != self.watcher.step:
            return
        for key, one in last.meters.items():
            before, after = last.before[key], _held(one)
            if after.count <= before.count:  # it was set back, or is not of this evaluation
                self._held.pop((last.loader, key), None)
                continue
            held = self._held.get((last.loader, key))
            if held is not None and before.count >= held and not last.is_clock(after.total - before.total):
                self._state(last, one, before)
            self._held[last.loader, key] = after.count

    def _state(self, last: Pass, one: object, before: Held) -> None:
        known = meter(type(one))
        if known is None:
            return
        built_at = Site(shown_path(known.file), known.line, type(one).__name__)
        data = MetricNotReset(metric=type(one).__name__, updates=int(before.count), built_at=built_at, unit="counts")
        self.watcher.state(data, site=last.site, step=last.step, key=("meter not reset", last.site))


def _held(one: object) -> Held:
    known, own = meter(type(one)), attributes(one)
    return Held(_number(own.get(known.total)), _number(own.get(known.count))) if known is not None else Held(0.0, 0.0)


def _number(value: object) -> float:
    return float(value) if type(value) is int or type(value) is float else 0.0


def _meters(frame: FrameType | None) -> Iterator[tuple[int, object]]:
    """The meters that variables of these functions lead to."""
    looked: set[int] = set()
    for _ in range(FRAMES):
        if frame is None:
            return
        waiting = [(value, 0) for value in locals_of(frame).values()]
        while waiting and len(looked) < MOST_OBJECTS:
            value, depth = waiting.pop()
            if id(value) in looked:
                continue
            looked.add(id(value))
            if meter(type(value)) is not None:
                yield id(value), value
            elif depth < DEPTH:
                waiting += [(part, depth + 1) for part in _parts(value)]
        frame = frame.f_back


def _parts(value: object) -> list[object]:
    if type(value) is list or type(value) is tuple:
        return list(value)[:20]
    if type(value) is dict:
        return list(value.values())[:20]
    return list(attributes(value).values())[:20] if type(value).__module__ not in _LEFT_OUT else []


_LEFT_OUT = ("builtins", "numpy", "torch", "torch.nn.parameter", "types", "functools")
