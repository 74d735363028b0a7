"""Values drawn from a distribution and given to a layer: does what becomes of them teach the distribution anything?"""

from __future__ import annotations

import weakref
from typing import NamedTuple

import torch
from torch import distributions
from torch.autograd.graph import Node

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on, on_call_of
from paramedic.capture.facts import own_parameters
from paramedic.capture.graph import reach
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record.facts import Drawn
from paramedic.record.writer import Site

T = torch.Tensor
MOST_BEHIND = 40
MOST_USES = 64  # per cycle


class Draw(NamedTuple):
    """`.sample()` and torch.normal() return numbers that do not lead back to their parameters."""

    node: Node  # that made the parameters of the distribution
    function: str
    site: Site


@probe("draws", states=[Drawn])
class Draws:
    """Follows what was drawn into layers, and these to the loss.

    Where the likelihood of what was drawn is computed, as policy gradients do, no way back is needed.
    """

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.ops = watcher.known.ops
        self._drawn: dict[int, tuple[weakref.ref[torch.Tensor], Draw]] = {}
        self._uses: list[tuple[object, Draw]] = []  # the node of what a layer made of it
        self._likely = False

    def install(self) -> None:
        self.watcher.patches.wrap(distributions.Normal, "log_prob", self._watched_likelihood)

    @on(moments.step_taken, moments.round_over)
    def _forget(self) -> None:
        self._drawn.clear()
        self._uses.clear()
        self._likely = False

    def _watched_likelihood(self, original: Function) -> Function:
        def log_prob(*args: object, **kwargs: object) -> object:
            self._likely = True
            return original(*args, **kwargs)

        return log_prob

    @on_call_of(torch.normal)
    def _normal(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        given = [x for x in (*args[:2], *kwargs.values()) if isinstance(x, T) and x.grad_fn is not None]
        if given and isinstance(result, T) and result.requires_grad:
            self._drawn[id(result)] = (weakref.ref(result), Draw(given[0].grad_fn, "torch.normal()", user_site()))

    @on_call_of(T.sub, T.__sub__, T.__rsub__, torch.sub)
    def _subtracted(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        """What was drawn minus its mean: a likelihood written by hand."""
        if isinstance(result, T) and result.requires_grad and not self._likely:
            self._likely = any(isinstance(x, T) and self._draw_behind(x) is not None for x in args[:2])

    @on(moments.module_called)
    def called(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        if not call.grad or not args or not isinstance(args[0], T) or len(self._uses) >= MOST_USES:
            return
        draw = self._draw_behind(args[0])
        trained = draw is not None and any(p.requires_grad for p in own_parameters(call.module).values())
        if draw is not None and trained and isinstance(output, T) and output.grad_fn is not None:
            self._uses.append((output.grad_fn, draw))

    def _draw_behind(self, value: torch.Tensor) -> Draw | None:
        known = self._drawn.get(id(value))
        if known is not None and known[0]() is value:
            return known[1]
        cut = self.ops.cuts.of(value)
        return Draw(cut.node, cut.op, cut.site) if cut is not None and cut.op == ".sample()" else None

    @on(moments.pass_followed)
    def passed(self, nodes: set[Node]) -> None:
        """A backward pass: it goes through the layer, and reaches the distribution's parameters by another way."""
        for node, draw in self._uses if not self._likely else ():
            if node in nodes and draw.node in nodes and not _goes_by(draw, nodes):
                behind = [self.watcher.registry.parameter_name(leaf) for leaf in reach(draw.node).leaves[:MOST_BEHIND]]
                data = Drawn(function=draw.function, behind=behind)
                self.watcher.state(data, site=draw.site, phase="train", key=("drawn", draw.site))


def _goes_by(draw: Draw, nodes: set[Node]) -> bool:
    """Whether the mean is also added to something, as `.rsample()` does: what was drawn was then cut off on purpose."""
    return any("Add" in type(n).__name__ and any(before is draw.node for before, _ in n.next_functions) for n in nodes)
