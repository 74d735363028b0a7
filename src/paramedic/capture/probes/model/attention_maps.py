"""What attention looks at: maps of its weights, whoever computes them."""

from __future__ import annotations

import base64
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture import attending, moments
from paramedic.capture.attending import PER_HEAD, Rows
from paramedic.capture.bus import on, on_call_of
from paramedic.capture.facts import readable
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.stats.calm import undisturbed
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record.facts import Attention, AttentionHead
from paramedic.record.writer import Site

T = torch.Tensor
_SOFTMAX = [F.softmax, torch.softmax, T.softmax]
_KEPT = [  # what may lie between the softmax and the product
    F.dropout, torch.dropout, T.to, T.type_as, T.float, T.half, T.bfloat16, T.contiguous, T.masked_fill,
    torch.masked_fill, T.unsqueeze, torch.unsqueeze, T.view, T.reshape, T.transpose,
]  # fmt: skip
_PRODUCTS = [T.matmul, T.__matmul__, torch.matmul, T.bmm, torch.bmm, torch.einsum]
PLACES = 16
LOOKS = 8  # at each place
LATER = 3  # times as many steps until the next one
MOST_QUERIES = 64  # that a decoder asks one by one

Place = tuple[str, Site]


@dataclass(slots=True)
class _Weights:
    """The last softmax: what it gave, and the tensors that hold the same weights in another form."""

    given: torch.Tensor
    forms: list[weakref.ref[torch.Tensor]]

    def holds(self, value: object) -> bool:
        return any(form() is value for form in self.forms)


@probe("attention_maps", states=[Attention])
class AttentionMaps:
    """Looks at training calls only, at a few steps, and at one sample of the batch."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._last: _Weights | None = None
        self._looks: dict[Place, int] = {}
        self._due: dict[Place, int] = {}
        self._single: dict[Place, list[torch.Tensor]] = {}  # rows of a decoder that asks one query at a time

    # torch's own ----------------------------------------------------------------------------------------------------

    @on(moments.module_called)
    def _module(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        module = call.module
        if call.grad and output is not None and type(module) is nn.MultiheadAttention:
            site = self.watcher.registry.birth_site(module)
            self._look((call.path, site), "MultiheadAttention", lambda: attending.of_module(module, args, kwargs))

    @on_call_of(F.scaled_dot_product_attention)
    def _function(self, func: Function, args: Any, kwargs: Any, result: object) -> None:
        names = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
        given = dict(zip(names, args, strict=False)) | kwargs
        query, key = given.get("query"), given.get("key")
        if not isinstance(query, T) or not isinstance(key, T) or not readable(query) or not readable(key):
            return
        mask, causal, scale = given.get("attn_mask"), bool(given.get("is_causal")), given.get("scale")
        look = lambda: attending.of_scores(query.detach(), key.detach(), mask, causal, scale)  # noqa: E731
        self._look(self._here(), "scaled_dot_product_attention", look)

    # Written by hand: a softmax, and a product with it --------------------------------------------------------------

    @on_call_of(*_SOFTMAX)
    def _normalised(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        self._last = None
        dim = kwargs.get("dim", args[1] if len(args) > 1 else None)
        if (
            isinstance(result, T)
            and isinstance(dim, int)
            and result.dim() > 1
            and dim % result.dim() == result.dim() - 1
        ):
            self._last = _Weights(result.detach(), [weakref.ref(result)])

    @on_call_of(*_KEPT)
    def _kept(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        if self._last is not None and args and isinstance(result, T) and self._last.holds(args[0]):
            self._last.forms.append(weakref.ref(result))

    @on_call_of(*_PRODUCTS)
    def _multiplied(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        last = self._last
        if last is None:
            return
        factors = [t for arg in args for t in (arg if isinstance(arg, (list, tuple)) else (arg,))]
        if not any(last.holds(factor) for factor in (factors if func is torch.einsum else factors[:1])):
            return
        self._last = None
        weights, place = last.given, self._here()
        if not readable(weights):
            return
        single = weights.dim() == 2 or (weights.dim() == 3 and weights.shape[1] == 1)
        if not single:
            self._look(place, "softmax and matmul", lambda: attending.of_weights(weights))
        elif isinstance(result, T) and result.dim() == 3 and result.shape[1] == 1 and self._wanted(place):
            rows = self._single.setdefault(place, [])
            if len(rows) < MOST_QUERIES:
                rows.append(weights[:1].reshape(1, -1).clone())

    @on(moments.step_taken, moments.round_over)
    def _step_over(self) -> None:
        self._last = None
        for place, rows in self._single.items():
            if len(rows) > 1 and len({row.shape for row in rows}) == 1:
                together = torch.stack(rows, 1)
                self._look(place, "softmax and matmul", partial(attending.of_weights, together), back=1)
        self._single.clear()

    # What is told ---------------------------------------------------------------------------------------------------

    def _here(self) -> Place:
        return self.watcher.known.calls.inside() or "", self.watcher.known.calls.native_site() or user_site()

    def _wanted(self, place: Place) -> bool:
        known = place in self._looks or len(self._looks) < PLACES
        return known and self._looks.get(place, 0) < LOOKS and self.watcher.step >= self._due.get(place, 0)

    def _look(self, place: Place, kind: str, rows: Callable[[], Rows | None], back: int = 0) -> None:
        if not torch.is_grad_enabled() or not self._wanted(place):
            return
        with undisturbed():
            found = rows()
            if found is None:
                return
            numbers = attending.measured(found)
        step, count = self.watcher.step - back, len(numbers)
        self._looks[place] = self._looks.get(place, 0) + 1
        self._due[place] = LATER * (step + 1)

        def tell(values: list[float]) -> None:
            size = len(values) // count
            heads = [_head(values[n * size : (n + 1) * size]) for n in range(count)]
            data = Attention(
                kind=kind, heads=heads, of=found.heads, queries=found.queries, keys=found.weights.shape[-1],
                rows=len(found.at),
            )  # fmt: skip
            self.watcher.state(data, site=place[1], module=place[0] or None, phase="train", step=step)

        self.watcher.read(numbers, tell)


def _head(values: list[float]) -> AttentionHead:
    entropy, diagonality = values[:PER_HEAD]
    pixels = base64.b64encode(bytes(int(value) for value in values[PER_HEAD:])).decode()
    return AttentionHead(entropy=entropy, diagonality=diagonality, map=pixels)
