"""Whether a graph can still be back-propagated, what it keeps in memory, and how many losses were summed into it."""

from __future__ import annotations

from typing import NamedTuple

import torch

MOST_NODES = 400
MOST_TERMS = 4_000
_SUMS = ("Add", "Sub", "Rsub", "Mul", "Div", "Neg", "Sum", "Mean", "ToCopy", "Clone", "View", "Squeeze", "Stack", "Cat")
_FREED = "second time"
_OUTDATED = "modified by an inplace operation"


def has_graph(tensor: torch.Tensor) -> bool:
    try:
        return tensor.grad_fn is not None
    except RuntimeError:  # a view whose base was overwritten, as legacy FSDP does: torch cannot say
        return False


def is_spent(tensor: torch.Tensor) -> bool:
    """Whether backward() through this tensor must fail: already done, or the weights have been updated since."""
    seen: set[object] = set()
    waiting = [tensor.grad_fn]
    while waiting and len(seen) < MOST_NODES:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if _is_spent(node):
            return True
        waiting.extend(following for following, _ in node.next_functions)
    return False


def _is_spent(node: object) -> bool:
    for name in dir(type(node)):
        if not name.startswith("_raw_saved_"):
            continue
        try:
            raw = getattr(node, name)
            saved = raw if isinstance(raw, (list, tuple)) else (raw,)
            # A hook may do anything to unpack a tensor: checkpointing would run the forward pass again.
            if all(getattr(one, "unpack_hook", one) is None for one in saved):
                getattr(node, name.removeprefix("_raw"), None)
        except RuntimeError as error:
            if _FREED in str(error) or _OUTDATED in str(error):
                return True
    return False


class Sum(NamedTuple):
    """A tensor as a weighted sum of others."""

    terms: int
    oldest: int  # when the first term was made, as autograd counts


def summed(tensor: torch.Tensor) -> Sum:
    """How many results were added up into this tensor, and how old the oldest of them is."""
    seen: set[object] = set()
    waiting, terms = [tensor.grad_fn], 0
    oldest = tensor.grad_fn._sequence_nr() if tensor.grad_fn is not None else 0
    while waiting and len(seen) < MOST_TERMS:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        oldest = min(oldest, node._sequence_nr())
        if type(node).__name__.removesuffix("Backward0").removesuffix("Backward1") in _SUMS:
            waiting.extend(following for following, _ in node.next_functions)
        else:
            terms += 1
    return Sum(terms, oldest)
