"""A gradient that leapt but stayed finite: was a function evaluated too near to where it has no value?

The step is run again and differentiated twice: as it was, and without what the suspected derivative gave. Only if the
gradient of the weights is small the second time is the suspect guilty.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.autograd.graph import Node

from paramedic.aliases import Fields
from paramedic.capture.apart.gradients import Hook, gradients
from paramedic.capture.apart.process import Impossible, Refused, apart
from paramedic.capture.graph import reach
from paramedic.capture.inquest.excerpt import Excerpt, excerpt
from paramedic.capture.inquest.inquest import copies_for, frames, on_host, tracer_for
from paramedic.capture.inquest.randomness import RandomState
from paramedic.capture.inquest.rerun import rerun, without_trace
from paramedic.capture.inquest.statement import measure
from paramedic.capture.inquest.tracer import Op, Tracer
from paramedic.capture.watcher import Watcher
from paramedic.record.facts import Gear

LONGEST = 20.0  # seconds that an attempt may take
NEAR = 1e-3  # how close to its edge a value must be to be a suspect
STEEP = 1e3  # how much larger than what it got a derivative must be
GUILTY = 100.0  # how much smaller the gradient of the weights must be without it
_AT_ZERO = ("log", "log2", "log10", "sqrt", "rsqrt", "reciprocal")
_AT_ONE = ("acos", "asin", "atanh")


def find_edge(watcher: Watcher, random_state: RandomState | None) -> Fields | None:
    """Run the step again that a backward pass has just ended, in a process of its own: the operation near its edge."""
    copies = copies_for(watcher, [])
    for frame in frames():
        statements = excerpt(frame)
        if statements is None:
            continue
        try:
            if copies is not None:
                on_host(copies, [], statements)
            attempt = functools.partial(_attempt, watcher, statements, random_state)
            found, loops = apart(attempt, LONGEST, copies=copies)
        except Impossible as reason:
            watcher.state(Gear(reason=f"a step with a large gradient was not run again: {reason}"), key="edge")
            return None
        except Refused:
            continue
        if found is not None or loops:
            return found
    return None


def _attempt(
    watcher: Watcher, statements: Excerpt, random_state: RandomState | None
) -> tuple[dict[str, object] | None, bool]:
    tracer = tracer_for(watcher)
    with without_trace(watcher.registry.roots(), random_state):
        again = rerun(statements, tracer)
        found = _try(tracer, again) if isinstance(again, list) else None
    return found, statements.in_loop and statements.count > 1


def _try(tracer: Tracer, losses: list[torch.Tensor]) -> dict[str, object] | None:
    try:
        return _suspect(tracer, losses)
    except RuntimeError:  # part of the graph was not rebuilt, and the old one is gone
        return None


def _suspect(tracer: Tracer, losses: list[torch.Tensor]) -> Fields | None:
    found = reach(*[loss.grad_fn for loss in losses])
    suspects = {node: op for node in found.nodes if (op := _op_of(node, tracer)) is not None and _is_near(op)}
    slopes: dict[Node, float] = {}

    def note(node: Node) -> Callable[[object, object], None]:
        def ran(given: object, got: object) -> None:
            slopes[node] = _largest(given) / max(_largest(got), 1e-30)

        return ran

    before = _norm(losses, found.leaves, {node: note(node) for node in suspects})
    steepest = max(slopes, key=lambda node: slopes[node], default=None)
    if steepest is None or slopes[steepest] < STEEP:
        return None
    after = _norm(losses, found.leaves, {steepest: _tame})
    if not after < before / GUILTY:
        return None
    op, distance = suspects[steepest], _distance(suspects[steepest])
    return {
        "site": op.site,
        "module": op.module,
        "op": op.name.strip("_"),
        "operands": [measure(seen) for seen in op.inputs[:2]],
        "scalars": op.scalars[:4],
        "closest": float(distance.min()),
        "near": int((distance < NEAR).sum()),
        "size": distance.numel(),
        "slope": slopes[steepest],
        "gradient": before,
        "without": after,
    }


def _op_of(node: Any, tracer: Tracer) -> Op | None:
    return None if hasattr(node, "variable") else tracer.by_node.get(node._sequence_nr())


def _distance(op: Op) -> torch.Tensor:
    """How far each value lies from where the operation has none; empty for operations without such a place."""
    x = op.inputs[0].tensor.detach() if op.inputs else torch.empty(0)
    if op.name in _AT_ZERO or (op.name == "pow" and op.scalars and op.scalars[0] < 1):
        return x.abs()
    if op.name == "div" and len(op.inputs) > 1:
        return op.inputs[1].tensor.detach().abs()
    return 1 - x.abs() if op.name in _AT_ONE else torch.empty(0)


def _is_near(op: Op) -> bool:
    distance = _distance(op)
    return distance.numel() > 0 and float(distance.min()) < NEAR


def _tame(given: Any, got: object) -> tuple[object, ...]:
    """Take the largest values out of what a node gives to each of its inputs."""
    return tuple(g if g is None else g.masked_fill(g.abs() > _largest([g]) / GUILTY, 0.0) for g in given)


def _largest(gradients: Any) -> float:
    return max((float(g.abs().max()) for g in gradients if g is not None and g.numel()), default=0.0)


def _norm(losses: list[torch.Tensor], leaves: list[torch.Tensor], hooks: dict[Node, Hook]) -> float:
    with torch._C._EnableTorchFunction():
        total = torch.stack([loss.sum() for loss in losses]).sum()
        found = gradients(total, leaves, hooks)
    return float(sum(g.double().square().sum() for g in found if g is not None) ** 0.5)
