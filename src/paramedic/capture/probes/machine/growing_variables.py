"""What the user's variables hold on to from step to step: tensors with their graphs, and data that piles up."""

from __future__ import annotations

import sys
import time
import weakref
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy
import torch

from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.code.storing import is_begun_anew, is_window, stored_at
from paramedic.capture.graph_life import has_graph, is_spent, summed
from paramedic.capture.holders import Holder, ends, holders
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.tensors import tensors_in
from paramedic.program.untouched import count_in, is_users_code
from paramedic.program.where import user_site
from paramedic.record.facts import Hoard, Retained
from paramedic.record.site import Site

FIRST_LOOK = 4  # after so many steps; then after half as many again, and so on
CLOSE_LOOKS = 8  # in a row, once a graph seems to be kept
MOST_CALLED_BACK = 5  # times that matching is ended for it
ENOUGH_GROWTH = 5  # looks at which there was more than at the look before: only then its line is looked for
WINDOW = 100  # a container that keeps the latest only may keep so many
FEWEST_BYTES = 1 << 20  # what is smaller is not followed, for there is a lot of it; how much is too much, a rule says
MOST_TRACKS = 500
MOST_TOLD = 200
SHARE = 0.005  # of the run's time, on top of a first allowance
SURE_LOOKS = 8  # whatever they cost; afterwards
ALLOWANCE = 0.1  # seconds


@dataclass(slots=True)
class Track:
    """One variable over the looks at which it held the same things and more."""

    identity: Hashable  # of its oldest content: when that changes, the variable has begun anew
    first: weakref.ref[torch.Tensor] | None
    counts: list[tuple[int, int]] = field(default_factory=list)  # step, how much was held
    told: int = 0

    @property
    def growth(self) -> int:
        return len(self.counts) - 1

    def continues(self, identity: Hashable, first: torch.Tensor | None, count: int) -> bool:
        same = self.first is None or self.first() is first
        return same and self.identity == identity and count >= self.counts[-1][1]


@probe("growing_variables", states=[Hoard, Retained])
class GrowingVariables:
    """Looks at the user's variables after some of the optimizer steps."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._tracks: dict[tuple[str, str], Track] = {}
        self._next = FIRST_LOOK
        self._close = 0  # looks still to be taken in a row
        self._called_back = 0
        self._spent = 0.0
        self._looks = 0
        self._told = 0

    @on(moments.step_taken, moments.steps_matched)
    def _after_step(self) -> None:
        step = self.watcher.step
        if step < self._next:
            return
        started = time.perf_counter()
        if self._looks >= SURE_LOOKS and self._spent > ALLOWANCE + SHARE * (started - self.watcher.started):
            return
        self._close -= 1
        self._looks += 1
        self._look(step)
        self._next = step + 1 if self._close > 0 else max(step + 1, step * 3 // 2)
        self._spent += time.perf_counter() - started

    def _look(self, step: int) -> None:
        names: dict[int, list[Holder]] = {}
        found: dict[int, object] = {}
        registry = self.watcher.registry
        for holder, value in holders((registry.root_name(root), root) for root in registry.roots()):
            if id(value) in names:
                names[id(value)].append(holder)
            elif isinstance(value, torch.Tensor):
                if has_graph(value) and "…" not in holder.path:
                    names[id(value)], found[id(value)] = [holder], value
            elif count_in(value) >= 2:
                names[id(value)], found[id(value)] = [holder], value
        for identity, value in found.items():
            if isinstance(value, torch.Tensor):
                self._look_at_tensor(step, value, names[identity])
            else:
                self._look_at_container(step, value, names[identity])

    def _look_at_tensor(self, step: int, tensor: torch.Tensor, names: list[Holder]) -> None:
        terms, oldest = summed(tensor)
        if terms < 2:
            return
        track = self._follow("sum", names[0], oldest, None, step, terms)
        if track is not None and track.growth >= ENOUGH_GROWTH and is_spent(tensor):
            self._tell_retained(track, tensor, names, "sum")

    def _look_at_container(self, step: int, value: object, names: list[Holder]) -> None:
        first = _first_graph(value)
        if first is not None:
            if (_maxlen(value) or WINDOW) < WINDOW:
                return  # it will let go soon enough
            track = self._follow("graphs", names[0], id(value), first, step, count_in(value))
            if track is not None and track.growth >= ENOUGH_GROWTH and is_spent(first):
                self._tell_retained(track, first, names, type(value).__name__)
            return
        each, device = _weight(value)
        if each * count_in(value) >= FEWEST_BYTES:
            track = self._follow("bytes", names[0], id(value), None, step, count_in(value))
            if track is not None and track.growth >= 3 and 4 * track.counts[-1][1] >= 5 * track.told:
                self._tell_hoard(track, value, each, device, names)

    def _follow(
        self, kind: str, holder: Holder, identity: Hashable, first: torch.Tensor | None, step: int, count: int
    ) -> Track | None:
        """The variable's track, if it holds more than at the look before."""
        track = self._tracks.get((kind, holder.path))
        news = track is None  # a list that is made anew in each step is none
        if track is None or not track.continues(identity, first, count):
            if track is None and len(self._tracks) >= MOST_TRACKS:
                return None
            track = Track(identity, weakref.ref(first) if first is not None else None)
            self._tracks[kind, holder.path] = track
        elif count == track.counts[-1][1]:
            return None
        else:
            news = True
        track.counts.append((step, count))
        del track.counts[1:-60]  # the beginning and the latest looks
        if news and kind != "bytes" and not track.told:
            self._look_closely()
        return track

    def _look_closely(self) -> None:
        self._close = CLOSE_LOOKS
        if self.watcher.gears.matching and self._called_back < MOST_CALLED_BACK:
            self._called_back += 1
            self.watcher.gears.news(CLOSE_LOOKS)

    def _tell_retained(self, track: Track, tensor: torch.Tensor, names: list[Holder], how: str) -> None:
        (first_step, first_count), (last_step, count) = track.counts[0], track.counts[-1]
        if count < 2 * track.told or (count < WINDOW and is_window(names)):
            return
        track.told = count
        site = stored_at(names)
        retained = Retained(
            variable=names[0].path,
            how=how,
            tensors=count,
            per_step=(count - first_count) / max(1, last_step - first_step),
            function=type(tensor.grad_fn).__name__,
            shape=list(tensor.shape),
            line_known=bool(site.file),
        )
        self._state(retained, site if site.file else user_site())

    def _tell_hoard(self, track: Track, value: object, each: int, device: str, names: list[Holder]) -> None:
        (first_step, first_count), (last_step, count) = track.counts[0], track.counts[-1]
        track.told = count
        bounded = _maxlen(value) is not None or max(holder.room for holder in names) > count
        site = stored_at(names)
        hoard = Hoard(
            variable=names[0].path,
            how=type(value).__name__,
            items=count,
            bytes=each * count,
            per_step=each * (count - first_count) / max(1, last_step - first_step),
            device=device,
            bounded=bounded or is_window(names) or is_begun_anew(names),
            line_known=bool(site.file),
        )
        self._state(hoard, site if site.file else user_site())

    def _state(self, fact: Retained | Hoard, site: Site) -> None:
        if self._told < MOST_TOLD:
            self._told += 1
            self.watcher.state(fact, site=site, phase="train")


def _maxlen(value: object) -> int | None:
    return value.maxlen if isinstance(value, deque) else None


def _first_graph(value: object) -> torch.Tensor | None:
    """The first tensor with a graph among a container's elements, itself or one level down."""
    for item in ends(dict.values(value) if isinstance(value, dict) else value):
        if isinstance(item, (torch.Tensor, tuple, dict)):
            for _, tensor in tensors_in(item, depth=3):
                if has_graph(tensor):
                    return tensor
    return None


def _weight(value: object) -> tuple[int, str]:
    """Bytes per element, judged by the first and the last one, and the device that they lie on."""
    items = ends(dict.values(value) if isinstance(value, dict) else value)
    first, last = items[0], items[-1]
    if isinstance(first, torch.Tensor) and isinstance(last, torch.Tensor) and _storage(first) == _storage(last):
        return 0, "cpu"  # views of one and the same
    tensor = next((tensor for _, tensor in tensors_in(last, depth=3)), None)
    return min(_bytes(first, 2), _bytes(last, 2)), tensor.device.type if tensor is not None else "cpu"


def _storage(tensor: torch.Tensor) -> object:
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):  # sparse and other tensors without one
        return id(tensor)


def _bytes(value: object, depth: int) -> int:
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    if isinstance(value, numpy.ndarray):
        return int(value.nbytes) if value.base is None else 0
    own = sys.getsizeof(value, 0) if not is_users_code(type(value), "__sizeof__") else 0
    if depth and isinstance(value, (list, tuple, set, deque)):
        sample = ends(value)
        return own + sum(_bytes(item, depth - 1) for item in sample) * count_in(value) // max(1, len(sample))
    if depth and isinstance(value, dict):
        sample = ends(dict.values(value))
        return own + sum(_bytes(item, depth - 1) for item in sample) * count_in(value) // max(1, len(sample))
    return own
