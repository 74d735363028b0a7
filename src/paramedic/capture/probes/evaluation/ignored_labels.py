"""Right answers that are counted where the loss looks away: at padding, whose label is the ignored one."""

from __future__ import annotations

import weakref
from collections import Counter

import torch

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on, on_call_of
from paramedic.capture.facts import readable
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record.facts import IgnoredCounted
from paramedic.record.writer import Site

T = torch.Tensor
MOST_VALUES = 1_000_000  # that are looked at in one comparison
MOST_TOLD = 40  # per line


@probe("ignored_labels", states=[IgnoredCounted])
class IgnoredLabels:
    """Follows a comparison of whole numbers to the sum over all of it; one that is masked before is in order."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._ignored: int | None = None  # the label that the training's loss leaves out
        self._equal: dict[int, tuple[weakref.ref[torch.Tensor], torch.Tensor, Site]] = {}  # result -> labels, where
        self._told: Counter[Site] = Counter()

    @on(moments.labels_seen)
    def seen(self, site: Site, labels: torch.Tensor, predictions: torch.Tensor, ignore_index: int) -> None:
        if predictions.requires_grad:
            self._ignored = ignore_index

    @on(moments.step_taken, moments.round_over)
    def _forget(self) -> None:
        self._equal.clear()

    @on_call_of(T.eq, T.__eq__, torch.eq)
    def compared(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        if self._ignored is None or torch.is_grad_enabled() or len(args) < 2 or not isinstance(result, T):
            return
        a, b = args[0], args[1]
        whole = all(isinstance(x, T) and not x.dtype.is_floating_point and x.dtype != torch.bool for x in (a, b))
        if whole and a.shape == b.shape and a.numel() <= MOST_VALUES and readable(a) and len(self._equal) < 1000:
            self._equal[id(result)] = (weakref.ref(result), a, user_site())

    @on_call_of(T.float, T.long, T.int, T.double, T.to, T.cpu, T.flatten, T.view, T.reshape)
    def cast(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        known = self._equal.get(id(args[0])) if self._equal and args else None
        if known is not None and known[0]() is args[0] and isinstance(result, T) and result is not args[0]:
            self._equal[id(result)] = (weakref.ref(result), known[1].reshape(result.shape), known[2])

    @on_call_of(T.sum, torch.sum, T.mean, torch.mean)
    def counted(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        known = self._equal.pop(id(args[0]), None) if self._equal and args else None
        if known is None or known[0]() is not args[0] or not isinstance(result, T) or result.dim():
            return
        _, labels, site = known
        right = torch.ne(args[0], 0)
        self._told[site] += 1
        if self._told[site] > MOST_TOLD:
            return
        ignored, step = self._ignored, self.watcher.step
        numbers = torch.stack([right.sum(), (right & (labels == ignored)).sum()]).float()

        def use(found: list[float]) -> None:
            fact = IgnoredCounted(ignore_index=ignored or 0, right=int(found[0]), ignored=int(found[1]))
            self.watcher.state(fact, site=site, phase="eval", step=step)

        self.watcher.read(numbers, use)
