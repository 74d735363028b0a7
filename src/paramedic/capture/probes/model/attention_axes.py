"""Attention written by hand: do the weights that average the values sum to one?"""

from __future__ import annotations

import weakref

import torch
from torch.nn import functional as F

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on, on_call_of
from paramedic.capture.graph import kinds_behind, serial
from paramedic.capture.probe import probe
from paramedic.capture.sources.waiting import Waiting
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record.facts import SoftmaxOverQueries
from paramedic.record.writer import Site

T = torch.Tensor
_SOFTMAX = [F.softmax, torch.softmax, T.softmax]
_PRODUCTS = [T.matmul, T.__matmul__, torch.matmul, T.bmm, torch.bmm]
MOST = 64  # remembered per cycle


@probe("attention_axes", states=[SoftmaxOverQueries])
class AttentionAxes:
    """Follows a softmax over the queries to the product in which the keys are summed up."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.ops = watcher.known.ops
        self._weights: dict[int, tuple[weakref.ref[torch.Tensor], Site, int]] = {}

    @on(moments.step_taken, moments.round_over)
    def _forget(self) -> None:
        self._weights.clear()

    @on_call_of(*_SOFTMAX)
    def _normalised(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        """Over the last axis but one of scores that are square: as many queries as keys, and products of the two."""
        x, dim = args[0] if args else kwargs.get("input"), kwargs.get("dim", args[1] if len(args) > 1 else None)
        if not isinstance(x, T) or not isinstance(result, T) or not isinstance(dim, int) or x.dim() < 3:
            return
        if dim % x.dim() != x.dim() - 2 or x.shape[-1] != x.shape[-2] or x.shape[-1] < 3 or len(self._weights) >= MOST:
            return
        if result.grad_fn is not None and "Bmm" in kinds_behind(x.grad_fn, 12).values():
            self._weights[id(result)] = (
                weakref.ref(result),
                self.watcher.known.calls.native_site() or user_site(),
                dim,
            )

    @on_call_of(F.dropout)
    def _dropped(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        known = self._known(args[0]) if self._weights and args else None
        if known is not None and isinstance(result, T):
            self._weights[id(result)] = (weakref.ref(result), *known)

    def _known(self, value: object) -> tuple[Site, int] | None:
        known = self._weights.get(id(value))
        return known[1:] if known is not None and known[0]() is value else None

    @on_call_of(*_PRODUCTS)
    def _multiplied(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        known = self._known(args[0]) if self._weights and args else None
        if known is None or not isinstance(result, T) or result.grad_fn is None:
            return
        site, data = known[0], SoftmaxOverQueries(dim=known[1], shape=list(args[0].shape))
        tell = lambda: self.watcher.state(data, site=site, key=("softmax over queries", site))  # noqa: E731
        self.ops.waiting.append(Waiting(serial(result.grad_fn), tell))
