"""Policy gradients: is the weight of a sampled action's log-probability a plain number, as it must be?"""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import torch
from torch import distributions
from torch.autograd.graph import Node

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on, on_call_of
from paramedic.capture.graph import kinds_behind, reach
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record.facts import AdvantageWithGraph
from paramedic.record.writer import Site

T = torch.Tensor
_PRODUCTS = [T.mul, T.__mul__, T.__rmul__, torch.mul]
MOST_PRODUCTS = 64  # per cycle


class Product(NamedTuple):
    """log-probability × advantage, both with a graph."""

    node: Node
    weight: Node  # the node of the advantage
    parameters: list[torch.Tensor]  # behind the advantage and not behind the log-probability: the critic's
    site: Site


@probe("advantages", states=[AdvantageWithGraph])
class Advantages:
    """Follows log-probabilities of sampled actions to the products that they enter."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._sampled: weakref.WeakSet[object] = weakref.WeakSet()  # distributions that an action was drawn from
        self._chosen: set[object] = set()  # nodes of the log-probabilities of this cycle
        self._products: list[Product] = []

    def install(self) -> None:
        for kind in (distributions.Categorical, distributions.Normal, distributions.Bernoulli):
            self._watch(kind)

    @on(moments.step_taken, moments.round_over)
    def _forget(self) -> None:
        self._chosen.clear()
        self._products.clear()

    def _watch(self, kind: object) -> None:
        def watched_sample(original: Function) -> Function:
            def sample(distribution: object, *args: object, **kwargs: object) -> Any:
                if self.watcher.gears.examining:
                    self._sampled.add(distribution)
                return original(distribution, *args, **kwargs)

            return sample

        def watched_likelihood(original: Function) -> Function:
            def log_prob(distribution: object, value: object) -> object:
                result = original(distribution, value)
                if self.watcher.gears.examining and distribution in self._sampled and len(self._chosen) < MOST_PRODUCTS:
                    self._chosen.add(getattr(result, "grad_fn", None))
                return result

            return log_prob

        self.watcher.patches.wrap(kind, "sample", watched_sample)
        self.watcher.patches.wrap(kind, "log_prob", watched_likelihood)

    @on_call_of(*_PRODUCTS)
    def _multiplied(self, func: Function, args: Args, kwargs: Kwargs, result: torch.Tensor) -> None:
        if not self._chosen or len(args) < 2 or not (isinstance(args[0], T) and isinstance(args[1], T)):
            return
        if not (args[0].requires_grad and args[1].requires_grad) or len(self._products) >= MOST_PRODUCTS:
            return
        chosen = [not self._chosen.isdisjoint(kinds_behind(x.grad_fn, 8)) for x in args[:2]]
        if chosen[0] == chosen[1] or result.grad_fn is None:
            return
        policy, weight = (args[0], args[1]) if chosen[0] else (args[1], args[0])
        # What was earned minus what was expected; a learnt temperature is a factor of another kind.
        if not {"Sub", "Rsub"} & set(kinds_behind(weight.grad_fn, 8).values()):
            return
        own = {id(leaf) for leaf in reach(policy.grad_fn).leaves}
        foreign = [leaf for leaf in reach(weight.grad_fn).leaves if id(leaf) not in own]
        if foreign:
            self._products.append(Product(result.grad_fn, weight.grad_fn, foreign, user_site()))

    @on(moments.pass_followed)
    def passed(self, nodes: set[Node]) -> None:
        """A backward pass: does the critic learn from the product and from a loss of its own at once?"""
        for product in [product for product in self._products if product.node in nodes]:
            loss = max((n for n in nodes if type(n).__name__ != "AccumulateGrad"), key=lambda n: n._sequence_nr())
            others = {id(leaf) for leaf in _around(loss, product)}
            shared = [p for p in product.parameters if id(p) in others]
            if shared:
                names = [self.watcher.registry.parameter_name(p) for p in shared]
                data = AdvantageWithGraph(parameters=names[:40], tensors=len(shared))
                self.watcher.state(data, site=product.site, phase="train", key=("advantage", product.site))


def _around(loss: Any, product: Product) -> list[torch.Tensor]:
    """The leaves behind the loss on all ways but the one through the advantage."""
    roots, seen = [loss], set()
    leaves: list[torch.Tensor] = []
    while roots:
        node = roots.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if isinstance(variable := getattr(node, "variable", None), T):
            leaves.append(variable)
        roots += [n for n, _ in node.next_functions if not (node is product.node and n is product.weight)]
    return leaves
