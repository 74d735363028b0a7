"""Activation functions: which one a tensor came out of, and over which dimension a softmax goes."""

from __future__ import annotations

import weakref
from typing import NamedTuple

import torch

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture.graph import kinds_behind, producer, serial
from paramedic.capture.sources.functions import ACTIVATIONS, SOFTMAX
from paramedic.capture.sources.waiting import Waiting
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record.facts import Softmax
from paramedic.record.writer import Site

T = torch.Tensor


class Made(NamedTuple):
    """The activation function that a tensor came out of, and the line to edit if it should not have."""

    op: str
    site: Site


class Activations:
    """Remembers since the last step which tensors an activation function has made."""

    def __init__(self, watcher: Watcher, waiting: list[Waiting]) -> None:
        self.watcher = watcher
        self.waiting = waiting
        self._made: dict[int, tuple[weakref.ref[torch.Tensor], Made]] = {}
        self._made_nodes: dict[int, Made] = {}  # by the serial numbers of nodes

    def forget(self) -> None:
        self._made.clear()
        self._made_nodes.clear()

    def activated(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        if not isinstance(result, T):
            return
        made = Made(ACTIVATIONS[func], self.watcher.known.calls.native_site() or user_site())
        self._made[id(result)] = (weakref.ref(result), made)
        if result.grad_fn is not None:
            self._made_nodes[serial(result.grad_fn)] = made
        if func in SOFTMAX:
            self._softmax(func, args, kwargs, result, made.site)

    def made(self, tensor: torch.Tensor) -> Made | None:
        """The activation function that computed this tensor, perhaps reshaped since."""
        known = self._made.get(id(tensor))
        if known is not None and known[0]() is tensor:
            return known[1]
        node = producer(tensor.grad_fn)
        return self._made_nodes.get(serial(node)) if node is not None else None

    def _softmax(self, func: Function, args: Args, kwargs: Kwargs, result: object, site: Site) -> None:
        x = args[0] if args else kwargs.get("input")
        dim = kwargs.get("dim", args[1] if len(args) > 1 else None)
        if not isinstance(x, T) or not isinstance(result, T) or x.dim() == 0:
            return
        implicit = dim is None
        dim = (0 if x.dim() in (0, 1, 3) else 1) if dim is None else dim % x.dim()
        # Ordinary calls are told as well: a dimension that is only sometimes of size one is no fault.
        kind = "single" if x.shape[dim] == 1 else "first" if dim == 0 else "ordinary"
        maker = self.watcher.known.calls.outputs.maker(x)
        products = "Bmm" in kinds_behind(x.grad_fn, 8).values()  # scores of queries with keys
        sizes = list(x.shape)
        fact = Softmax(
            function=func.__name__, shape=sizes, dim=dim, size=sizes[dim], implicit=implicit, products=products
        )
        tell = lambda: self.watcher.state(fact, site=site, module=maker, key=(site, kind))  # noqa: E731
        if result.grad_fn is not None:
            self.waiting.append(Waiting(serial(result.grad_fn), tell))
