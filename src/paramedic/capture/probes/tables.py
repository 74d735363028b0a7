"""Differences that became tables: (N,) - (N, 1) between values without a graph, as of returns and a baseline."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import torch

from paramedic.capture.facts import describe
from paramedic.capture.probes.ops import OpMode, Waiting, same_up_to_ones
from paramedic.capture.watcher import Watcher
from paramedic.capture.where import user_site
from paramedic.record.writer import Site

T = torch.Tensor
_DIFFERENCES = [T.sub, T.__sub__, T.__rsub__, torch.sub]
_KEEPING = [*_DIFFERENCES, T.div, T.__truediv__, torch.div, T.detach, T.float, T.clamp, torch.clamp]
_PRODUCTS = [T.mul, T.__mul__, T.__rmul__, torch.mul]
MOST_TABLES = 16  # remembered per cycle


class Table(NamedTuple):
    """N × N values that were made of N and N."""

    tensor: weakref.ref[torch.Tensor]
    site: Site
    data: dict[str, Any]


class Tables:
    """Follows such a table until it meets something with a graph: the advantage that a loss is weighted with."""

    def __init__(self, watcher: Watcher, ops: OpMode) -> None:
        self.watcher = watcher
        self.ops = ops
        self._tables: dict[int, Table] = {}

    def install(self) -> None:
        self.ops.handle(_DIFFERENCES, self._subtracted, "tables")
        self.ops.handle(_KEEPING, self._changed, "tables")
        self.ops.handle(_PRODUCTS, self._weighted, "tables")
        self.watcher.on_step.append(("tables", self._tables.clear))

    def _subtracted(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        """What the model said, without its history, against plain numbers of as many samples."""
        if len(args) < 2 or not (isinstance(args[0], T) and isinstance(args[1], T) and isinstance(result, T)):
            return
        a, b = args[0], args[1]
        if result.requires_grad or a.dim() == b.dim() or not same_up_to_ones(a, b) or self.ops.inside_model():
            return
        said = self.ops.taint_of(a) is not None, self.ops.taint_of(b) is not None
        if result.numel() <= max(a.numel(), b.numel()) or said[0] == said[1] or len(self._tables) >= MOST_TABLES:
            return
        sides = {"a": {**describe(a), "requires_grad": said[0]}, "b": {**describe(b), "requires_grad": said[1]}}
        data = {"op": "broadcast", "symbol": "-", **sides, "result": list(result.shape)}
        self._tables[id(result)] = Table(weakref.ref(result), user_site(), data)

    def _changed(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        """Normalised, clipped: still the table."""
        if not self._tables or not args or not isinstance(args[0], T) or not isinstance(result, T):
            return
        table, same = self._tables.get(id(args[0])), args[0].shape == result.shape
        if same and table is not None and table.tensor() is args[0]:
            self._tables[id(result)] = table._replace(tensor=weakref.ref(result))

    def _weighted(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        node = getattr(result, "grad_fn", None)
        for value in args[:2] if self._tables and node is not None else ():
            table = self._tables.get(id(value))
            if table is not None and table.tensor() is value:
                site, data = table.site, table.data
                tell = lambda: self.watcher.emit("op", site=site, data=data, key=("broadcast", site))  # noqa: B023, E731
                self.ops.waiting.append(Waiting(node, tell, unless_pairwise=True))
                return
