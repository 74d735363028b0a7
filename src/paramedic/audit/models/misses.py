"""Are rows equal because they are copies, or because few rows are possible? Where it is chance, near misses abound."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from paramedic.audit.audit import Split

SAMPLE = 20_000  # rows among which pairs that differ in two places are counted
TIMES = 1  # as many near misses as hits, and it is chance
FEWEST_BLOCKS = 3

Keys = NDArray[np.uint64]  # rows by blocks of columns


def coincide(*splits: Split) -> bool:
    """Whether equal rows are chance: many more pairs differ in a single place, and again many more in two."""
    from paramedic.audit.models.rows import block_keys

    found = [rows[1] for split in splits if (rows := split.sketch.rows.joined()) is not None]
    if not found or len({rows.shape[1] for rows in found}) > 1 or found[0].shape[1] < FEWEST_BLOCKS:
        return False
    keys = block_keys(np.concatenate(found))
    equal, one = differing_in_none_or_one(keys)
    return equal > 0 and one > TIMES * equal and mostly_two(keys)


def differing_in_none_or_one(keys: Keys) -> tuple[int, int]:
    """How many pairs of rows are equal, and how many differ in exactly one block."""
    whole = _sum(keys)
    equal = _pairs(whole)
    return equal, sum(_pairs(whole - keys[:, block]) - equal for block in range(keys.shape[1]))


def mostly_two(keys: Keys) -> bool:
    """Whether many more pairs differ in exactly two blocks than in one."""
    some = keys[np.random.default_rng(0).permutation(len(keys))[:SAMPLE]] if len(keys) > SAMPLE else keys
    whole = _sum(some)
    equal, one = differing_in_none_or_one(some)
    alone = [_pairs(whole - some[:, block]) - equal for block in range(some.shape[1])]
    two = 0
    for a, b in combinations(range(some.shape[1]), 2):
        two += _pairs(whole - some[:, a] - some[:, b]) - equal - alone[a] - alone[b]
    return two > TIMES * one


def _sum(keys: Keys) -> NDArray[np.uint64]:
    return np.asarray(keys.sum(axis=1, dtype=np.uint64))


def _pairs(keys: NDArray[np.uint64]) -> int:
    """How many pairs have the same key."""
    counts = np.unique(keys, return_counts=True)[1].astype(np.int64)
    return int((counts * (counts - 1) // 2).sum())
