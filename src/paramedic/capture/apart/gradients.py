"""Gradients in a forked process. Where there are accelerators, torch's engine refuses to work in one.

Then the nodes of the graph are called one after the other from here, on the host, which takes no engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch.autograd.function import BackwardCFunction
from torch.autograd.graph import Node

from paramedic.aliases import Function

Hook = Function  # of a node, as torch has them: what it gives, what it got; may return other gradients
NONE: Mapping[Node, Hook] = {}


def gradients(
    loss: torch.Tensor, leaves: Sequence[torch.Tensor], hooks: Mapping[Node, Hook] = NONE
) -> list[torch.Tensor | None]:
    """The derivative of the loss for each leaf; None where it does not depend on it. The graph is kept."""
    handles = [node.register_hook(hook) for node, hook in hooks.items()]
    try:
        return list(torch.autograd.grad(loss, leaves, allow_unused=True, retain_graph=True))
    except RuntimeError as error:
        if "fork" not in str(error):
            raise
        return without_engine(loss, leaves, hooks)
    finally:
        for handle in handles:
            handle.remove()


def without_engine(
    loss: torch.Tensor, leaves: Sequence[torch.Tensor], hooks: Mapping[Node, Hook] = NONE
) -> list[torch.Tensor | None]:
    if loss.grad_fn is None:
        raise RuntimeError("the loss depends on nothing that has a gradient")
    arrived: dict[Node, dict[int, torch.Tensor]] = {loss.grad_fn: {loss.output_nr: torch.ones_like(loss)}}
    found: dict[int, torch.Tensor] = {}
    with torch.no_grad():
        for node in _users_first(loss.grad_fn):
            given = arrived.pop(node, None)
            if given is None:
                continue
            if hasattr(node, "variable"):  # a leaf
                found[id(node.variable)] = given[0]
                continue
            passed_on = _called(node, given)
            if node in hooks:
                changed = hooks[node](passed_on, tuple(map(given.get, range(len(node._input_metadata)))))
                passed_on = passed_on if changed is None else changed
            for (further, number), gradient in zip(node.next_functions, passed_on, strict=False):
                if further is not None and gradient is not None:
                    fitting = _fitting(gradient, further._input_metadata[number])
                    there = arrived.setdefault(further, {})
                    there[number] = there[number] + fitting if number in there else fitting
    return [found.get(id(leaf)) for leaf in leaves]


def _called(node: Node, given: dict[int, torch.Tensor]) -> tuple[torch.Tensor | None, ...]:
    wanted = node._input_metadata
    if isinstance(node, BackwardCFunction):  # of the user's, who expects zeros where nothing arrives
        zeros = [torch.zeros(w.shape, dtype=w.dtype) if w is not None else None for w in wanted]
        passed_on = node.apply(*(given.get(number, zero) for number, zero in enumerate(zeros)))
    else:
        passed_on = node(*map(given.get, range(len(wanted))))
    return passed_on if isinstance(passed_on, tuple) else (passed_on,)


def _fitting(gradient: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """As the engine does: what was broadcast is summed up, and of the right type."""
    summed = gradient if gradient.shape == wanted.shape else gradient.sum_to_size(wanted.shape)
    return summed.to(wanted.dtype)


def _users_first(root: Node) -> list[Node]:
    """Each node after all nodes that pass something on to it."""
    waiting: dict[Node, int] = {root: 0}  # how many have not been called yet
    unseen = [root]
    while unseen:
        for further, _ in unseen.pop().next_functions:
            if further is not None:
                if further not in waiting:
                    waiting[further] = 0
                    unseen.append(further)
                waiting[further] += 1
    ready, order = [root], []
    while ready:
        node = ready.pop()
        order.append(node)
        for further, _ in node.next_functions:
            if further is not None:
                waiting[further] -= 1
                if not waiting[further]:
                    ready.append(further)
    return order
