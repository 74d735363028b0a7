"""Sums and products that became tables: (N,) - (N, 1) between values without a graph, as of returns and a baseline."""

from __future__ import annotations

import weakref
from dataclasses import replace
from typing import NamedTuple

import torch
from torch.autograd.graph import Node

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on, on_call_of
from paramedic.capture.facts import describe, same_up_to_ones
from paramedic.capture.graph import serial
from paramedic.capture.probe import probe
from paramedic.capture.sources.waiting import Waiting
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record.facts import Broadcast
from paramedic.record.writer import Site

T = torch.Tensor
_DIFFERENCES = [T.sub, T.__sub__, T.__rsub__, torch.sub]
_SUMS = [T.add, T.__add__, T.__radd__, torch.add]
_PRODUCTS = [T.mul, T.__mul__, T.__rmul__, torch.mul]
_KEEPING = [*_DIFFERENCES, *_SUMS, *_PRODUCTS, T.div, T.__truediv__, torch.div, T.detach, T.float, T.clamp, torch.clamp]
_SYMBOLS = dict.fromkeys(_DIFFERENCES, "-") | dict.fromkeys(_SUMS, "+") | dict.fromkeys(_PRODUCTS, "*")
MOST_TABLES = 16  # remembered per cycle


class Table(NamedTuple):
    """N × N values that were made of N and N."""

    tensor: weakref.ref[torch.Tensor]
    site: Site
    fact: Broadcast
    weight: bool  # a difference, such as an advantage, that a loss may be multiplied with; else only a target


@probe("tables", states=[Broadcast])
class Tables:
    """Follows such a table until it meets something with a graph.

    A difference may be the advantage that a loss is weighted with. A sum or a product may be the target that N
    predictions are compared with; whatever else becomes of it, it may be a table on purpose.
    """

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.ops = watcher.known.ops
        self._tables: dict[int, Table] = {}

    @on(moments.step_taken, moments.round_over)
    def _forget(self) -> None:
        self._tables.clear()

    @on_call_of(*_SYMBOLS)
    def _combined(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        """What the model said, without its history, against plain numbers of as many samples."""
        if len(args) < 2 or not (isinstance(args[0], T) and isinstance(args[1], T) and isinstance(result, T)):
            return
        a, b = args[0], args[1]
        if (
            result.requires_grad
            or a.dim() == b.dim()
            or not same_up_to_ones(a, b)
            or self.watcher.known.calls.in_forward()
        ):
            return
        said = self._is_said(a), self._is_said(b)
        if result.numel() <= max(a.numel(), b.numel()) or said[0] == said[1] or len(self._tables) >= MOST_TABLES:
            return
        fact = Broadcast(
            symbol=_SYMBOLS[func],
            a=replace(describe(a), requires_grad=said[0]),
            b=replace(describe(b), requires_grad=said[1]),
            result=list(result.shape),
            answers=True,
        )
        self._tables[id(result)] = Table(weakref.ref(result), user_site(), fact, _SYMBOLS[func] == "-")

    def _is_said(self, value: torch.Tensor) -> bool:
        return self.ops.cuts.of(value) is not None or self.watcher.known.is_answer(value)

    @on_call_of(*_KEEPING)
    def _changed(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        """Normalised, clipped, discounted: still the table."""
        if not self._tables or not isinstance(result, T) or result.requires_grad:
            return
        for value in args[:2]:
            table = self._known(value)
            if table is not None and value.shape == result.shape:
                self._tables[id(result)] = table._replace(tensor=weakref.ref(result))
                return

    def _known(self, value: object) -> Table | None:
        table = self._tables.get(id(value))
        return table if table is not None and table.tensor() is value else None

    @on_call_of(*_PRODUCTS)
    def _weighted(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        node = getattr(result, "grad_fn", None)
        for value in args[:2] if self._tables and node is not None else ():
            table = self._known(value)
            if table is not None and table.weight:
                self._wait(table, node)
                return

    @on_call_of(*_DIFFERENCES)
    def _compared(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        """N predictions against the N × N values."""
        node = getattr(result, "grad_fn", None)
        if not self._tables or node is None or len(args) < 2:
            return
        for prediction, target in ((args[0], args[1]), (args[1], args[0])):
            self._met(prediction, target, node)

    @on(moments.loss_called)
    def loss(self, name: str, prediction: torch.Tensor, target: torch.Tensor) -> None:
        """A loss function, too, may be given such a target."""
        self._met(prediction, target, prediction.grad_fn)

    def _met(self, prediction: object, target: torch.Tensor, node: Node | None) -> None:
        table = self._known(target) if self._tables else None
        if table is None or not isinstance(prediction, T) or not prediction.requires_grad:
            return
        if prediction.numel() ** 2 == target.numel() and prediction.numel() > 1 and max(prediction.shape) > 1:
            self._wait(table, node)

    def _wait(self, table: Table, node: Node) -> None:
        tell = lambda: self.watcher.state(table.fact, site=table.site, key=table.site)  # noqa: E731
        self.ops.waiting.append(Waiting(serial(node), tell, unless_pairwise=True))
