"""Arithmetic on tensors with gradients: terms of a loss, those of them without gradient, and broadcasts."""

from __future__ import annotations

from collections import Counter

import torch

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture.facts import describe, same_up_to_ones
from paramedic.capture.graph import kinds_behind, serial, serials, terms
from paramedic.capture.kept_axis import axis_kept_at
from paramedic.capture.sources.cuts import Cuts
from paramedic.capture.sources.functions import ARITHMETIC
from paramedic.capture.sources.waiting import Waiting
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record.facts import Broadcast, ConstantTerm, Terms
from paramedic.record.writer import Site

T = torch.Tensor
MOST_SUMS = 40  # told per line


class LossTerms:
    """Follows how a loss is put together; what it sees waits for the backward pass."""

    def __init__(self, watcher: Watcher, cuts: Cuts, waiting: list[Waiting]) -> None:
        self.watcher = watcher
        self.cuts = cuts
        self.waiting = waiting
        self.pairwise = False  # since the last step everything was compared with everything
        self._sums: Counter[Site] = Counter()
        self._replaced: set[int] = set()  # nodes (serial numbers) whose value the script has replaced by another

    def forget(self) -> None:
        self.pairwise = False
        self._replaced.clear()

    def combined(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        if len(args) < 2 or not (isinstance(args[0], T) and isinstance(args[1], T) and isinstance(result, T)):
            return
        a, b = args[0], args[1]
        if a.dim() == b.dim() and 1 < a.numel() == b.numel() and result.numel() == a.numel() * b.numel():
            self.pairwise = True  # x[:, None] - x[None, :]
        if a.requires_grad and b.requires_grad and a.dim() == b.dim() == 0 and ARITHMETIC[func] in "+-":
            self._sum(a, b, result)
            if self.cuts.lost and (self.cuts.of(a) is None) != (self.cuts.of(b) is None):
                self._constant_term(*((a, b) if self.cuts.of(b) is not None else (b, a)), result)
        if a.requires_grad == b.requires_grad or result.grad_fn is None:
            return
        if a.dim() != b.dim() and same_up_to_ones(a, b) and not self.watcher.known.calls.in_forward():
            if result.numel() > max(a.numel(), b.numel()):
                self._broadcast(ARITHMETIC[func], a, b, result)
        elif ARITHMETIC[func] in "+-" and a.dim() == 0 and b.dim() == 0:
            self._constant_term(*((a, b) if a.requires_grad else (b, a)), result)

    def _sum(self, a: torch.Tensor, b: torch.Tensor, result: torch.Tensor) -> None:
        """Two scalars with gradients added up: two terms of the loss, if it is one."""
        site, step = user_site(), self.watcher.step
        losses = self.watcher.known.losses
        kinds = [losses.function_of(a), losses.function_of(b)]
        direct = [losses.is_direct(a), losses.is_direct(b)]
        numbers = torch.stack([a.detach().float(), b.detach().float()])

        def tell() -> None:
            def use(found: list[float]) -> None:
                self.watcher.state(Terms(values=found, kinds=kinds, direct=direct), site=site, phase="train", step=step)

            self._sums[site] += 1
            if self._sums[site] <= MOST_SUMS:
                self.watcher.read(numbers, use)

        self.waiting.append(Waiting(serial(result.grad_fn), tell, term=True))

    def _broadcast(self, op: str, a: torch.Tensor, b: torch.Tensor, result: torch.Tensor) -> None:
        site = user_site()
        kept, made = axis_kept_at(a if a.dim() > b.dim() else b), list(result.shape)
        fact = Broadcast(symbol=op, a=describe(a), b=describe(b), result=made, axis_at=kept)
        maker = self.watcher.known.calls.outputs.maker(a if a.requires_grad else b)
        tell = lambda: self.watcher.state(fact, site=site, module=maker, key=site)  # noqa: E731
        self.waiting.append(Waiting(serial(result.grad_fn), tell, unless_pairwise=True))

    def _constant_term(self, live: torch.Tensor, constant: torch.Tensor, result: torch.Tensor) -> None:
        """A term without gradient is added to one with gradient; wrong only if it was once part of the graph.

        Not if it replaces the value of a term and leaves its gradient, on purpose: then the constant was computed
        from that very term, as in `surrogate + (objective - surrogate).detach()`.
        """
        cut = self.cuts.of(constant)
        if cut is None or (live.grad_fn is not None and serial(live.grad_fn) in self._replaced):
            return
        summands = terms(live.grad_fn)
        parts = {node for summand in summands for node, _ in summand.next_functions} if cut.scalar else set()
        if live.grad_fn in kinds_behind(cut.node) or (cut.node is not None and cut.node in parts):
            self._replaced.add(serial(result.grad_fn))
            known = serials(summands)
            self.waiting[:] = [item for item in self.waiting if not (item.constant and item.node in known)]
            return
        site = user_site()
        value = constant.detach()

        def tell() -> None:
            self.watcher.read(value.reshape(1).float(), use)

        def use(numbers: list[float]) -> None:
            fact = ConstantTerm(cut=cut.op, cut_file=cut.site.file, cut_line=cut.site.line, value=numbers[0])
            self.watcher.state(fact, site=site, key=("term", site, numbers[0] == 0.0))

        self.waiting.append(Waiting(serial(result.grad_fn), tell, term=True, constant=True))
