"""Rows that have a key in common: the candidates for being nearly equal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array

LARGEST = 50  # equal keys beyond this are a common pattern, not copies

Keys = NDArray[np.uint64]


def meet(one: Keys, other: Keys | None = None, *, largest: int = LARGEST) -> tuple[Array, Array]:
    """Rows of two sets (or of one, where `other` is None) with a key in common in one column; each pair once."""
    found: list[NDArray[np.int64]] = []
    for column in range(one.shape[1]):
        keys = one[:, column] if other is None else np.concatenate([one[:, column], other[:, column]])
        found.append(_equal(keys, None if other is None else len(one), largest))
    pairs = np.unique(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)
    width = max(1, len(one) + (0 if other is None else len(other)))
    return pairs // width, pairs % width - (0 if other is None else len(one))


def _equal(keys: Keys, border: int | None, largest: int) -> NDArray[np.int64]:
    """Pairs of rows with equal keys, as one number each; across the border where the rows are of two splits."""
    order = np.argsort(keys, kind="stable")  # equal keys keep their order: the lower row comes first
    ranked = keys[order]
    start = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]])) if len(ranked) else order
    sizes = np.diff(np.append(start, len(ranked)))
    small = np.repeat((sizes > 1) & (sizes <= largest), sizes)
    order, ranked = order[small], ranked[small]
    found = []
    for apart in range(1, largest):
        equal = np.flatnonzero(ranked[apart:] == ranked[:-apart]) if len(ranked) > apart else order[:0]
        if not len(equal):
            break
        a, b = order[equal], order[equal + apart]
        across = slice(None) if border is None else (a < border) & (b >= border)
        found.append(a[across] * len(keys) + b[across])
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)
