"""Weights that are evaluated instead of those that are trained: how much of the way from the start have they gone?"""

from __future__ import annotations

import weakref
from collections import Counter

import torch
from torch import nn

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on, on_call_of
from paramedic.capture.kinship import shapes, some_of
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program import anatomy
from paramedic.program.where import user_site
from paramedic.record.facts import WayGone
from paramedic.record.writer import NOWHERE, Site

T = torch.Tensor
MOST_LOOKS = 40  # per model
LOW = (torch.bfloat16, torch.float16)


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
        self._versions: weakref.WeakKeyDictionary[nn.Module, int] = weakref.WeakKeyDictionary()  # after a step
        self._updated: Site = NOWHERE  # where a tensor of low precision is updated
        self._looks: Counter[int] = Counter()
        self._evaluated: dict[int, tuple[weakref.ref[nn.Module], torch.Tensor, int, Site]] = {}

    @on(moments.model_called)
    def called(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        module, step = call.module, self.watcher.step
        if call.grad or not self._starts or self._looks[id(module)] >= MOST_LOOKS:
            return
        if call.training and not self._exchanged(module):
            return
        known = self._evaluated.get(id(module))
        if known is not None and known[2] == step:
            return  # another batch of the same evaluation
        values = some_of(module)
        if values is not None:
            self._evaluated[id(module)] = (weakref.ref(module), values, step, call.site)

    def _exchanged(self, module: nn.Module) -> bool:
        """Whether other weights were written into a trained model after the step: for an evaluation, in any mode."""
        return module in self._versions and _version(module) != self._versions[module]

    @on_call_of(T.add_, T.lerp_, T.copy_)
    def _wrote(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        """The line that updates a tensor of low precision, without gradients: a shadow of the weights, perhaps."""
        if not torch.is_grad_enabled() and isinstance(args[0], T) and args[0].dtype in LOW and not self._updated.file:
            self._updated = user_site()

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
        for root in self._starts:
            self._versions[root] = _version(root)

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
        sizes = [((values - start) * whole).sum() / (whole * whole).sum(), whole.norm(), start.norm()]
        numbers = torch.stack([*sizes, _coarse(values) & ~_coarse(now)])
        registry = self.watcher.registry
        path, name = registry.root_name(module), registry.root_name(source)
        updated = self._updated if self._updated.file else None

        def use(found: list[float]) -> None:
            share, way, size, coarse = found
            if way > 0 and size > 0:
                fact = WayGone(source=name, share=share, way=way / size, coarse=bool(coarse), updated=updated)
                self.watcher.state(fact, site=site, module=path, phase="eval", step=step)

        self.watcher.read(numbers, use)


def _version(model: nn.Module) -> int:
    """Of its first parameter: each write counts it up."""
    return next((p._version for p in anatomy.parameters(model)), 0)


def _coarse(values: torch.Tensor) -> torch.Tensor:
    """Whether 16 bits hold all of them exactly: they come from a tensor of low precision."""
    return torch.stack([(values.to(dtype).double() == values).all() for dtype in LOW]).any()
