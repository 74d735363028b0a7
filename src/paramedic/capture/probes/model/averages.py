"""Models that follow another one step by step: by how much of the way, and in which direction?"""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import nn

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on, on_call_of
from paramedic.capture.facts import address, readable
from paramedic.capture.kinship import shapes, some_of
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program import anatomy
from paramedic.program.where import user_site
from paramedic.record.facts import Average, SetBack, Stillness
from paramedic.record.writer import NOWHERE, Site

T = torch.Tensor
MOST_LOOKS = 200
OFTEN = 5  # examined steps in which a copy was called
LEAST_WAY = 1e-3  # of the distance to its source: a copy that is mixed with itself drifts by rounding alone


class Pair(NamedTuple):
    """A model that no optimizer holds, and the one with the same parameters that is trained."""

    copy: weakref.ref[nn.Module]
    source: weakref.ref[nn.Module]


@probe("averages", states=[Average, SetBack, Stillness])
class Averages:
    """Compares a few elements of both after each step, from one step to the next."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.held = watcher.known.loop.books.owners.__contains__
        self._pairs: list[Pair] = []
        self._version: object = None
        self._before: dict[int, tuple[int, torch.Tensor, torch.Tensor]] = {}  # step, copy, source
        # Models that were called: deep copies are never built.
        self._seen: weakref.WeakSet[nn.Module] = weakref.WeakSet()
        self._called: dict[int, int] = {}  # and when they were called last
        self._times: Counter[int] = Counter()  # and in how many of the examined steps
        self._addresses: tuple[set[int], set[int]] = (set(), set())  # of the copies and of the sources
        self._backwards: Site = NOWHERE  # where a source was written to with a copy, since the last step
        self._looks = 0
        self._first: dict[int, tuple[int, torch.Tensor]] = {}  # step, and a copy as it was then

    @on(moments.model_called)
    def called(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        self._times[id(call.module)] += self._called.get(id(call.module)) != self.watcher.step
        self._called[id(call.module)] = self.watcher.step
        self._seen.add(call.module)

    @on_call_of(T.add_, T.lerp_, T.__iadd__)
    def _wrote(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        if not self._pairs or len(args) < 2 or not isinstance(args[1], T):
            return
        copies, sources = self._addresses
        if address(args[0]) in sources and address(args[1]) in copies:
            self._backwards = user_site()

    @on(moments.model_loaded)
    def given(self, model: nn.Module, state: Mapping[str, object], path: str, site: Site) -> None:
        """A model has loaded a state dict: a trained one, out of its own copy?"""
        first = next((value for value in state.values() if isinstance(value, T) and value.numel()), None)
        for pair in self._pairs if first is not None and readable(first) else ():
            copy, source = pair.copy(), pair.source()
            mine = some_of(copy) if copy is not None and source is model else None
            if copy is None or mine is None or address(first) not in {address(p) for p in anatomy.parameters(copy)}:
                continue
            self._tell_set_back(copy, mine, path, site)

    def _tell_set_back(self, copy: nn.Module, mine: torch.Tensor, path: str, site: Site) -> None:
        step = self.watcher.step
        # A network that gives targets is called in every step; a snapshot to go back to is not.
        used = self._times[id(copy)] >= 5
        name = self.watcher.registry.root_name(copy)

        def use(found: list[float]) -> None:
            fact = SetBack(copy=name, used=used, sum=found[0])
            self.watcher.state(fact, site=site, module=path, phase="train", step=step)

        self.watcher.read(mine.sum().reshape(1), use)

    def _compare_with_first(self, copy: nn.Module, source: nn.Module, now: torch.Tensor, theirs: torch.Tensor) -> None:
        """Of a copy that is called in every step: is it still what it was when it was first seen?"""
        step, first = self._first.setdefault(id(copy), (self.watcher.step, now))
        steps = self.watcher.step - step
        if now.device.type != "cpu" or first.shape != now.shape or self._times[id(copy)] < OFTEN or not steps:
            return
        if theirs.device != now.device or theirs.shape != now.shape:
            return
        moved = bool((now - first).norm() > LEAST_WAY * (theirs - first).norm())
        fact = Stillness(source=self.watcher.registry.root_name(source), moved=moved)
        name = self.watcher.registry.root_name(copy)
        self.watcher.state(fact, module=name, phase="train", key=("stillness", id(copy), moved))

    @on(moments.step_taken)
    def _stepped(self) -> None:
        version = (self.watcher.registry.version, len(self._seen))
        if version != self._version:
            self._version, self._pairs = version, self._find()
        if self._looks >= MOST_LOOKS:
            return
        for pair in self._pairs:
            copy, source = pair.copy(), pair.source()
            if copy is not None and source is not None:
                self._look(copy, source)
        self._backwards = NOWHERE

    def _find(self) -> list[Pair]:
        roots = list({id(m): m for m in (*self.watcher.registry.roots(), *self._seen)}.values())
        trained = [root for root in roots if any(self.held(id(p)) for p in anatomy.parameters(root))]
        pairs = []
        for root in roots:
            own = list(anatomy.parameters(root))
            if not own or any(self.held(id(p)) for p in own):
                continue
            source = next((model for model in trained if shapes(model) == shapes(root)), None)
            if source is not None:
                pairs.append(Pair(weakref.ref(root), weakref.ref(source)))
        models = [(pair.copy(), pair.source()) for pair in pairs]
        self._addresses = (
            {address(p) for copy, _ in models if copy is not None for p in anatomy.parameters(copy)},
            {address(p) for _, source in models if source is not None for p in anatomy.parameters(source)},
        )
        return pairs

    def _look(self, copy: nn.Module, source: nn.Module) -> None:
        mine, theirs = some_of(copy), some_of(source)
        step, known = self.watcher.step, self._before.get(id(copy))
        if mine is None or theirs is None:
            return
        self._before[id(copy)] = (step, mine, theirs)
        self._compare_with_first(copy, source, mine, theirs)
        if known is None or known[0] != step - 1 or known[1].device != mine.device:
            return
        self._looks += 1
        way, gap = mine - known[1], known[2] - known[1]
        share = (way * gap).sum() / (gap * gap).sum()
        numbers = torch.stack([share, (way - share * gap).norm(), way.norm(), gap.norm(), theirs.norm()])
        site = self._backwards if self._backwards.file else self.watcher.known.written_at(copy)
        backwards = bool(self._backwards.file) and self._called.get(id(copy), -9) >= step - 1
        name, path = self.watcher.registry.root_name(source), self.watcher.registry.root_name(copy)

        def use(found: list[float]) -> None:
            kind, share = _kind(*found), found[0]
            if kind is not None:
                fact = Average(source=name, backwards=backwards, kind=kind, share=share)
                key = (path, kind, backwards, f"{share:.1g}", f"{round(1 - share, 5):.1g}")  # 0.01 and 0.99 to a digit
                self.watcher.state(fact, site=site, module=path, step=step, key=key)

        self.watcher.read(numbers, use)


def _kind(share: float, rest: float, way: float, gap: float, size: float) -> str | None:
    """None where too little moved to tell, or where it is no average of the two."""
    if way == 0:
        return "still" if gap > 0 else None
    rounding = 1e-6 * size
    return None if not gap > rounding or rest > 0.02 * way else "moved"
