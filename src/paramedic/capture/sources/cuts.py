"""Where the gradient's path ends, and which values have lost their history there."""

from __future__ import annotations

import sys
import weakref

import torch
from torch import nn

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture.graph import nearest_leaves, reach, serial
from paramedic.capture.sources.cut import Cut
from paramedic.capture.sources.functions import CUTS, FLAT, ORDER
from paramedic.capture.sources.waiting import Waiting
from paramedic.capture.watcher import Watcher
from paramedic.program.where import is_restoring, is_users, user_site
from paramedic.record.facts import Flat
from paramedic.record.writer import Site

T = torch.Tensor
MOST_CUTS = 64  # remembered per cycle
MOST_BEHIND = 1_000  # parameters named behind one call
DERIVATIVE = "torch.autograd.grad()"


class Cuts:
    """The cuts since the last step, and the values behind them as long as they live."""

    def __init__(self, watcher: Watcher, waiting: list[Waiting]) -> None:
        self.watcher = watcher
        self.waiting = waiting
        self.made: list[Cut] = []
        self.lost: dict[int, tuple[weakref.ref[torch.Tensor], Cut]] = {}  # tensors without their history, by id
        self.derived = False  # some of these are derivatives without a graph of their own
        self.fresh = False  # a model was called since the last step: only then can a cut matter
        self._written: set[int] = set()  # leaves (ids) that backward passes since the last step have reached
        self._spent: set[int] = set()  # and those of the step before
        self._passes = 0

    def passed(self, leaves: list[torch.Tensor]) -> None:
        """A backward pass is about to reach these."""
        self._passes += 1
        self._written |= {id(leaf) for leaf in leaves}

    def let_go(self, most: int) -> None:
        """Keep only so many of the first."""
        del self.made[most:]
        self.lost = {known: lost for known, lost in self.lost.items() if lost[0]() is not None}

    def forget(self) -> None:
        self.made.clear()
        self.fresh = False
        self._spent, self._written = self._written, set()
        self._passes = 0
        self.lost.clear()
        self.derived = False

    def cut(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        x = args[0] if args else kwargs.get("data")
        if not isinstance(x, T) or not x.requires_grad or len(self.made) >= MOST_CUTS:
            return
        if not self.fresh and not self._is_unspent(x):
            return
        if func in ORDER and not is_users(sys._getframe(3).f_code.co_filename):
            return  # torch checks the arguments of its distributions so
        if is_restoring():
            return  # a copy of a model is not part of any loss
        if isinstance(result, T) and result.grad_fn is not None and CUTS[func] not in FLAT:
            return  # the path goes on: nothing was cut
        if isinstance(result, T) and result.grad_fn is not None:
            self._flat(CUTS[func], result)
        # torch keeps a leaf's accumulator, and the shape it had, as long as somebody holds it. A parameter that gets
        # other data later (a lazy one, a model that grows) could not be trained any more.
        leaf = weakref.ref(x) if x.grad_fn is None else None
        value = result if isinstance(result, float) else None
        cut = Cut(x.grad_fn, CUTS[func], user_site(), x.dim() == 0, self._passes, value, leaf)
        self.made.append(cut)
        if isinstance(result, T) and not result.requires_grad:
            self._lose(result, cut)

    def sampled(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        """Distribution.sample() takes its parameters without their history; rsample() would not."""
        caller = sys._getframe(3).f_code
        if torch.is_grad_enabled() or caller.co_name != "sample" or "distributions" not in caller.co_filename:
            return
        x = args[0]
        if x.grad_fn is not None and self.fresh and len(self.made) < MOST_CUTS:
            cut = Cut(x.grad_fn, ".sample()", user_site(), False, self._passes)
            self.made.append(cut)
            self._lose(result, cut)

    def _is_unspent(self, x: torch.Tensor) -> bool:
        """Computed before the last step, and still waiting for its backward pass: the samples of a GAN."""
        if not self._spent or x.grad_fn is None or x.dim() == 0:
            return False
        return not {id(leaf) for leaf in reach(x.grad_fn).leaves} & self._spent

    def _flat(self, op: str, result: torch.Tensor) -> None:
        """A step function: the gradient goes through it, as zero."""
        site, node = user_site(), result.grad_fn

        def tell() -> None:
            behind = [self.watcher.registry.parameter_name(leaf) for leaf in reach(node).leaves[:MOST_BEHIND]]
            data = Flat(function=op, behind=behind)
            self.watcher.state(data, site=site, key=("flat", site))

        self.waiting.append(Waiting(serial(node), tell))

    def _lose(self, result: torch.Tensor, cut: Cut) -> None:
        self.lost[id(result)] = (weakref.ref(result), cut)

    def lose_all(self, tensors: list[torch.Tensor], site: Site, op: str = "torch.no_grad()") -> None:
        """Outputs of a trainable module that ran under no_grad, or gradients that autograd handed out as numbers."""
        self.derived |= op == DERIVATIVE
        for tensor in tensors:
            self._lose(tensor, Cut(None, op, site))

    def spread(self, args: Args, result: torch.Tensor) -> None:
        for value in args:
            for item in value if isinstance(value, (list, tuple)) else (value,):
                cut = self.of(item)
                if cut is not None:
                    if not result.requires_grad or (cut.op == DERIVATIVE and self._trains_nothing(result)):
                        self._lose(result, cut)
                    return

    def _trains_nothing(self, result: torch.Tensor) -> bool:
        """Whether its gradient only leads to inputs: coordinates x that a derivative was taken by have one, too."""
        leaves = nearest_leaves(result.grad_fn) if result.grad_fn is not None else None
        return leaves is not None and not any(
            isinstance(p, nn.Parameter) or id(p) in self.watcher.known.loop.books.owners for p in leaves
        )

    def of(self, value: object) -> Cut | None:
        known = self.lost.get(id(value))  # ids are used again, so the tensor itself must still be the one meant
        return known[1] if known is not None and known[0]() is value else None

    def behind(self, wanted: set[int]) -> list[tuple[Cut, set[int]]]:
        """For parameters (ids) that no gradient reached: the cuts that lie between them and the loss.

        Those made for the last backward pass, if there are any: a GAN detaches its samples for the other network, too.
        """
        found = []
        for cut in self.made:
            behind = cut.leaves() & wanted
            if behind:
                found.append((cut, behind))
        return [pair for pair in found if pair[0].passes == self._passes - 1] or found
