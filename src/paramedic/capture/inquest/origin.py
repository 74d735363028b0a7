"""Walk back from a bad loss or gradient to the operation that made the first bad value.

Infinities that were meant (masks, log-space scores) are passed by: the walk begins at what went wrong and only follows
values that are bad themselves, so a mask that softmax has dealt with is never met.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.autograd.function import BackwardCFunction
from torch.autograd.graph import Node

from paramedic.capture.graph import reach
from paramedic.capture.inquest.tracer import UNINITIALISED, Op, Seen, Tracer, look

MOST_STEPS_BACK = 10_000
IN_LOG_SPACE = ("_softmax", "_log_softmax", "logsumexp", "logcumsumexp", "logaddexp", "_ctc_loss")


@dataclass(slots=True)
class Origin:
    """Where a bad value came from: an operation, or a tensor that was bad before the step began."""

    op: Op | None = None
    outside: Seen | None = None
    node: str | None = None  # the backward operation, when the bad value was born in the backward pass
    custom: Op | None = None  # the operation inside the user's own backward function
    deliberate: bool = False  # it made NaN from infinities that were put there on purpose


def forward_origin(tracer: Tracer, bad: Seen, before: int | None = None) -> Origin:
    """The operation that turned good values into bad ones, on the way to this tensor."""
    op = tracer.spoiler(bad, len(tracer.ops) if before is None else before)
    if op is None:
        return Origin(outside=bad)
    for _ in range(MOST_STEPS_BACK):
        suspects = [seen for seen in op.inputs if seen.bad]
        nans = [seen for seen in suspects if seen.nan]
        if not suspects or op.name in UNINITIALISED:
            return Origin(op=op)
        if op.nan and not nans:  # made of infinities: were they meant?
            sources = [forward_origin(tracer, seen, op.index) for seen in suspects]
            accident = next((source for source in sources if not _is_meant(source, op)), None)
            return accident or Origin(op=op, deliberate=True)
        chosen = (nans or suspects)[0]
        source = tracer.spoiler(chosen, op.index)
        if source is None:
            return Origin(op=op, outside=chosen)
        op = source
    return Origin(op=op)


def _is_meant(source: Origin, used_in: Op) -> bool:
    """An infinity that was written down: masked_fill(-inf), full(inf), a mask given from outside."""
    op = source.op
    if op is None or source.outside is not None or not op.inputs:
        return True
    if any(abs(number) == float("inf") for number in op.scalars):
        return True
    return op.name == "log" and used_in.name in IN_LOG_SPACE  # scores of what cannot happen


def backward_origin(
    tracer: Tracer, losses: list[torch.Tensor], differentiate: Callable[[list[torch.Tensor]], list[torch.Tensor | None]]
) -> Origin | None:
    """The node of the graph that turned a good gradient into a bad one; None if all gradients are good."""
    found = reach(*[loss.grad_fn for loss in losses])
    watch = _Watch(tracer)
    handles = [node.register_hook(watch.hook(node)) for node in found.nodes if not hasattr(node, "variable")]
    try:
        with tracer:
            gradients = differentiate(found.leaves)
    finally:
        for handle in handles:
            handle.remove()
    bad = {id(leaf) for leaf, g in zip(found.leaves, gradients, strict=True) if g is not None and _bad(g)}
    ends = [node for node in found.nodes if id(getattr(node, "variable", None)) in bad]
    if not ends:
        return None
    node = watch.birth(found.nodes, ends)
    if node is None:
        return Origin()
    return _explain(tracer, node, watch)


def _explain(tracer: Tracer, node: Node, watch: _Watch) -> Origin:
    op = tracer.by_node.get(node._sequence_nr())
    name = node.name()
    if op is not None and any(seen.bad for seen in op.inputs):
        # The values themselves were bad already, in a part of the forward pass that the loss does not show.
        seen = next((seen for seen in op.inputs if seen.nan), next(seen for seen in op.inputs if seen.bad))
        origin = forward_origin(tracer, seen, op.index)
        origin.node = name
        return origin if origin.op is not None else Origin(op=op, node=name, outside=origin.outside)
    custom = next((o for o in watch.ops_of(node) if o.bad and not any(s.bad for s in o.inputs)), None)
    return Origin(op=op, node=name, custom=custom if isinstance(node, BackwardCFunction) else None)


class _Watch:
    """Which nodes got and gave bad gradients, in the order in which they ran."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.order: list[Node] = []
        self.got_bad: set[Node] = set()
        self.gave_bad: dict[Node, set[int]] = {}
        self.until: dict[Node, int] = {}

    def hook(self, node: object) -> Callable[[object, object], None]:
        def ran(given: Any, got: Any) -> None:
            self.order.append(node)
            self.until[node] = len(self.tracer.ops)
            if any(g is not None and _bad(g) for g in got):
                self.got_bad.add(node)
            bad = {index for index, g in enumerate(given) if g is not None and _bad(g)}
            if bad:
                self.gave_bad[node] = bad

        return ran

    def ops_of(self, node: object) -> list[Op]:
        position = self.order.index(node)
        start = self.until[self.order[position - 1]] if position else 0
        return self.tracer.ops[start : self.until[node]]

    def birth(self, nodes: set[Node], ends: list[object]) -> object:
        """The first node to run that got good and gave bad values which reached one of the ends."""
        givers: dict[object, list[object]] = {}
        for node, bad in self.gave_bad.items():
            for index, (following, _) in enumerate(node.next_functions):
                if index in bad and following is not None:
                    givers.setdefault(following, []).append(node)
        seen: set[object] = set()
        waiting = list(ends)
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                waiting += givers.get(node, [])
        births = [node for node in self.order if node in seen and node in self.gave_bad and node not in self.got_bad]
        return births[0] if births else None


def _bad(gradient: torch.Tensor) -> bool:
    seen = look(gradient)
    return seen is not None and seen.bad
