"""Weights that are evaluated instead of those that are trained: how much of the way from the start have they gone?"""

from __future__ import annotations

import weakref
from collections import Counter

import torch
from torch import nn

from paramedic.aliases import Args, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.kinship import shapes, some_of
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program import anatomy
from paramedic.record.facts import WayGone
from paramedic.record.writer import Site

MOST_LOOKS = 40  # per model


@probe("way_gone", states=[WayGone])
class WaysGone:
    """Remembers a few elements of each trained model as it began, and compares when a copy has been evaluated.

    A shadow may also be written into the model itself for the evaluation. The trained weights are back by the next
    step, so both are compared then.
    """

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.held = watcher.known.loop.books.owners.__contains__
        self._starts: weakref.WeakKeyDictionary[nn.Module, torch.Tensor] = weakref.WeakKeyDictionary()
        self._version: object = None
        self._looks: Counter[int] = Counter()
        self._evaluated: dict[int, tuple[weakref.ref[nn.Module], torch.Tensor, int, Site]] = {}

    @on(moments.model_called)
    def called(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        module, step = call.module, self.watcher.step
        if call.training or call.grad or not self._starts or self._looks[id(module)] >= MOST_LOOKS:
            return
        known = self._evaluated.get(id(module))
        if known is not None and known[2] == step:
            return  # another batch of the same evaluation
        values = some_of(module)
        if values is not None:
            self._evaluated[id(module)] = (weakref.ref(module), values, step, call.site)

    @on(moments.step_taken)
    def _stepped(self) -> None:
        version = self.watcher.registry.version
        if version != self._version:
            self._version = version
            for root in self.watcher.registry.roots():
                if root not in self._starts and any(self.held(id(p)) for p in anatomy.parameters(root)):
                    values = some_of(root)
                    if values is not None:
                        self._starts[root] = values
        if self._evaluated:
            self._compare()

    @on(moments.run_over)
    def _compare(self) -> None:
        waiting, self._evaluated = list(self._evaluated.values()), {}
        for ref, values, step, site in waiting:
            module = ref()
            source = self._source(module) if module is not None else None
            now = some_of(source) if source is not None else None
            if module is None or source is None or now is None:
                continue
            start = self._starts[source]
            if start.shape == values.shape == now.shape:  # a model may grow
                self._tell(module, source, start, values, now, step, site)

    def _source(self, module: nn.Module) -> nn.Module | None:
        if module in self._starts:
            return module
        return next((root for root in self._starts if shapes(root) == shapes(module)), None)

    def _tell(
        self,
        module: nn.Module,
        source: nn.Module,
        start: torch.Tensor,
        values: torch.Tensor,
        now: torch.Tensor,
        step: int,
        site: Site,
    ) -> None:
        if not start.device == values.device == now.device:
            return
        self._looks[id(module)] += 1
        whole = now - start
        numbers = torch.stack([((values - start) * whole).sum() / (whole * whole).sum(), whole.norm(), start.norm()])
        registry = self.watcher.registry
        path, name = registry.root_name(module), registry.root_name(source)

        def use(found: list[float]) -> None:
            share, way, size = found
            if way > 0 and size > 0:
                fact = WayGone(source=name, share=share, way=way / size)
                self.watcher.state(fact, site=site, module=path, phase="eval", step=step)

        self.watcher.read(numbers, use)
