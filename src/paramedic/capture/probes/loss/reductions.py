"""A loss that adds a mean over the batch and a divergence that is summed over it: their ratio depends on the batch."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch.autograd.graph import Node

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture.bus import on_call_of
from paramedic.capture.code.storing import assigned_at
from paramedic.capture.graph import is_closed_form
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import frame_site, locals_of, user_frame
from paramedic.record.facts import MixedReductions

T = torch.Tensor
_SUMS = [T.add, T.__add__, T.__radd__, torch.add, T.__iadd__]
DEPTH = 8


class Reduction(NamedTuple):
    """How a term became one number."""

    how: str  # "mean" or "sum"
    samples: int | None  # along the first dimension, where that is known
    weight: float
    node: Node


@probe("reductions", states=[MixedReductions])
class Reductions:
    """Looks at sums of two numbers with a graph while examining."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher

    @on_call_of(*_SUMS)
    def _added(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        if len(args) < 2 or not all(isinstance(a, T) and a.dim() == 0 and a.grad_fn is not None for a in args[:2]):
            return
        found = [_reduction(term.grad_fn) for term in args[:2]]
        for term, mine, other in ((args[0], *found), (args[1], *found[::-1])):
            if mine is None or other is None or mine.how != "sum" or other.how != "mean":
                continue
            if mine.samples is None or not is_closed_form(mine.node):
                continue
            frame = user_frame()
            name = next((n for n, known in locals_of(frame).items() if known is term), None) if frame else None
            if frame is None:
                continue
            line = assigned_at(frame.f_code.co_filename, frame.f_code.co_name, name, frame.f_lineno) if name else None
            site = frame_site(frame)
            site = site._replace(line=line) if line is not None else site
            fact = MixedReductions(name=name, samples=mine.samples, weight=mine.weight)
            self.watcher.state(fact, site=site, key=("mixed reductions", site, mine.samples), phase="train")


def _reduction(node: Any) -> Reduction | None:
    """The call behind a few factors that made a number of many."""
    weight = 1.0
    for _ in range(DEPTH):
        kind = type(node).__name__.removesuffix("Backward0").removesuffix("Backward1")
        if kind in ("Sum", "Mean"):
            sizes = node._saved_self_sym_sizes
            whole = not hasattr(node, "_saved_dim") or len(node._saved_dim) in (0, len(sizes))
            return Reduction(kind.lower(), int(sizes[0]) if sizes else None, weight, node) if whole else None
        if hasattr(node, "_saved_reduction"):
            return Reduction({1: "mean", 2: "sum"}.get(node._saved_reduction, "none"), None, weight, node)
        inputs = [following for following, _ in node.next_functions if following is not None]
        if kind not in ("Mul", "Div", "Neg") or len(inputs) != 1:
            return None
        if kind != "Neg":
            factor = _number(node._saved_other) or (_number(node._saved_self) if kind == "Mul" else None)
            if not factor:
                return None
            weight = weight / factor if kind == "Div" else weight * factor
        node = inputs[0]
    return None


def _number(saved: object) -> float | None:
    """A factor that the graph keeps: a plain number, or a tensor of one on the host."""
    if isinstance(saved, T):
        return float(saved) if saved.numel() == 1 and saved.device.type == "cpu" else None
    return float(saved) if isinstance(saved, int | float) else None
