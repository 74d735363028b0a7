"""Walk the autograd graph that a backward pass is about to use."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import torch
from torch.autograd.graph import Node

MOST_NODES = 200_000


class Reach(NamedTuple):
    """What lies behind a node of the graph."""

    nodes: set[Node]  # the nodes themselves: kept, so that their identities stay valid
    leaves: list[torch.Tensor]  # tensors whose .grad this backward pass will write
    complete: bool


def serial(node: Node) -> int:
    """A node's number. Whoever remembers the node itself keeps alive all that its backward pass would need."""
    return int(node._sequence_nr())


def serials(nodes: Iterable[Node]) -> set[int]:
    return {serial(node) for node in nodes if node is not None}


def reach(*roots: Node | None) -> Reach:
    """All nodes and leaf tensors behind these nodes (grad_fn, or a leaf tensor's accumulator)."""
    seen: set[Node] = set()
    leaves: list[torch.Tensor] = []
    waiting = [root for root in roots if root is not None]
    while waiting and len(seen) < MOST_NODES:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if isinstance(variable, torch.Tensor):
            leaves.append(variable)
        waiting.extend(following for following, _ in node.next_functions if following is not None)
    return Reach(seen, leaves, not waiting)


def nearest_leaves(root: Any, most: int = 64) -> list[torch.Tensor] | None:
    """The leaf tensors of a graph of few nodes; None if there are more."""
    seen: set[Node] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        seen.add(node)
        if len(seen) > most:
            return None
        waiting += [
            following for following, _ in node.next_functions if following is not None and following not in seen
        ]
    return [node.variable for node in seen if isinstance(getattr(node, "variable", None), torch.Tensor)]


_LINEAR = ("Add", "Sub", "Rsub", "Mul", "Div", "Neg", "Sum", "Mean", "Stack", "ToCopy", "Clone", "View", "Squeeze")


def terms(root: Node) -> set[Node]:
    """The nodes at the top of the graph through which the loss is a weighted sum of what lies behind them."""
    found: set[object] = set()
    waiting = [root] if root is not None else []
    while waiting and len(found) < 1_000:
        node = waiting.pop()
        kind = type(node).__name__.removesuffix("Backward0").removesuffix("Backward1")
        inputs = [following for following, _ in node.next_functions if following is not None]
        # A product is linear only when all but one of its factors are constants.
        if node in found or kind not in _LINEAR or (kind in ("Mul", "Div") and len(inputs) > 1):
            continue
        found.add(node)
        waiting += inputs
    return found


# Nodes that only rearrange values: behind them stands the call that made the values.
_REARRANGING = (
    "View", "UnsafeView", "Reshape", "ReshapeAlias", "Squeeze", "Unsqueeze", "Transpose", "Permute", "T", "Expand",
    "Clone", "ToCopy", "Slice", "Select", "Index", "Contiguous", "Flatten", "Alias", "MaskedSelect", "Movedim",
)  # fmt: skip


def producer(node: Any) -> Node | None:
    """The node that computed the values, behind any reshaping."""
    for _ in range(16):
        if node is None or type(node).__name__.removesuffix("Backward0").removesuffix("Backward1") not in _REARRANGING:
            return node
        node = node.next_functions[0][0] if node.next_functions else None
    return node


def kinds_behind(node: Any, most: int = 24) -> dict[Node, str]:
    """The nearest nodes behind this one, with what they compute: 'Exp', 'Clamp', 'Mul'."""
    found: dict[Node, str] = {}
    waiting = [node]
    while waiting and len(found) < most:
        node = waiting.pop(0)
        if node is not None and node not in found:
            found[node] = type(node).__name__.removesuffix("0").removesuffix("1").removesuffix("Backward")
            waiting += [following for following, _ in node.next_functions]
    return found


def is_closed_form(node: object) -> bool:
    """A square of something that is no difference, and an exponential: 1 + logvar - mu² - exp(logvar).

    An estimate from samples squares a difference (z - mu), and may well be negative.
    """
    kinds = kinds_behind(node, 40)
    squared = [n for n, kind in kinds.items() if kind == "Pow" or (kind == "Mul" and _same_factors(n))]
    plain = [n for n in squared if kinds.get(n.next_functions[0][0], "") not in ("Sub", "Add", "Div", "Rsub")]
    return bool(plain) and len(plain) == len(squared) and "Exp" in kinds.values()


def _same_factors(node: Node) -> bool:
    factors = [following for following, _ in node.next_functions]
    return len(factors) == 2 and factors[0] is not None and factors[0] is factors[1]
