"""Which samples to look at, and which value of a sample is its target."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

TARGETS = (
    "label", "labels", "target", "targets", "y", "class", "classes", "category", "species", "sentiment", "outcome",
    "diagnosis", "survived", "price", "response", "label_ids", "mask", "masks", "output", "answer", "score",
)  # fmt: skip
CHUNK = 256  # samples
ROWS = 65_536  # of tables and arrays
CHUNK_BYTES = 16 << 20


def chosen(size: int, sample: int | None) -> NDArray[np.int64]:
    """The indices to look at, in order: all, or `sample` of them drawn with a fixed seed."""
    if sample is None or sample >= size:
        return np.arange(size, dtype=np.int64)
    drawn = np.random.default_rng(0).choice(size, sample, replace=False)
    return np.sort(drawn).astype(np.int64)


def in_pieces(indices: Sequence[int] | NDArray[np.int64], size: int) -> Iterator[NDArray[np.int64]]:
    for start in range(0, len(indices), size):
        yield np.asarray(indices[start : start + size], dtype=np.int64)


def rows_per_chunk(bytes_per_row: int) -> int:
    return int(min(ROWS, max(1, CHUNK_BYTES // max(bytes_per_row, 1))))


def target_name(names: Iterable[str]) -> str | None:
    """The name among these that says it is the target."""
    names = list(names)
    by_lower = {name.lower(): name for name in reversed(names)}
    return next((by_lower[word] for word in TARGETS if word in by_lower), None)
