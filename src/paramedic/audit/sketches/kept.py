"""A fair sample of the samples, kept whole for models and pictures: those whose scrambled index is smallest."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array, Chunk, Values

MOST = 5_000
MOST_BYTES = 256 << 20


@dataclass(slots=True)
class Kept:
    """At most MOST samples. The choice depends on the indices alone, so parts of the data can be read in any order."""

    indices: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    inputs: dict[str, Values] = field(default_factory=dict)
    target: Values | None = None
    most: int = MOST

    def update(self, chunk: Chunk) -> None:
        if not len(chunk.indices):
            return
        if not self.indices.size:
            size = sum(_bytes(values) for values in chunk.inputs.values()) / len(chunk.indices)
            self.most = int(max(50, min(MOST, MOST_BYTES / max(size, 1))))
        ranks = scrambled(chunk.indices)
        limit = scrambled(self.indices).max() if len(self.indices) >= self.most else None
        better = np.flatnonzero(ranks < limit) if limit is not None else np.arange(len(ranks))
        better = better[np.argsort(ranks[better])][: self.most]
        if len(better):
            self._add(
                chunk.indices[better], {n: pick(v, better) for n, v in chunk.inputs.items()}, chunk.target, better
            )

    def merge(self, other: Kept) -> None:
        self.most = min(self.most, other.most)
        self._add(other.indices, other.inputs, other.target, np.arange(len(other.indices)))

    def _add(self, indices: NDArray[np.int64], inputs: dict[str, Values], target: Values | None, better: Array) -> None:
        old, size = self.indices, len(self.indices)
        joined = np.concatenate([old, indices])
        best = np.sort(np.argsort(scrambled(joined), kind="stable")[: self.most])
        best = best[np.argsort(joined[best], kind="stable")]
        merged: dict[str, Values] = {}
        for name, values in inputs.items():
            if not size or name in self.inputs:
                merged[name] = pick(join(self.inputs.get(name), values), best)
        chosen = None if target is None else pick(target, better)
        if chosen is not None and (not size or self.target is not None):
            self.target = pick(join(self.target, chosen), best)
        else:
            self.target = None
        self.indices, self.inputs = joined[best], merged


def scrambled(indices: NDArray[np.int64]) -> NDArray[np.uint64]:
    """A fixed random order of the indices (splitmix64)."""
    x = indices.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def pick(values: Values, places: Array) -> Values:
    return [values[int(i)] for i in places] if isinstance(values, list) else values[places]


def join(first: Values | None, second: Values) -> Values:
    if first is None:
        return second
    both_arrays = isinstance(first, np.ndarray) and isinstance(second, np.ndarray)
    if both_arrays and first.shape[1:] == second.shape[1:]:  # type: ignore[union-attr]
        return np.concatenate([first, second])
    return [*first, *second]


def _bytes(values: Values) -> int:
    if isinstance(values, np.ndarray):
        return values.nbytes
    return sum(value.nbytes if isinstance(value, np.ndarray) else len(value) for value in values)
