"""Samples that are nearly the same: images by gradient hash and thumbnail, texts by MinHash."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array
from paramedic.audit.sketches import minhash

if TYPE_CHECKING:
    from paramedic.audit.audit import Split

BITS = 10  # of 64 that may differ between gradient hashes
LIKENESS = 0.985  # correlation of thumbnails
CLOSER = 0.35  # than the tenth neighbour, as a ratio of distances
NEIGHBOUR = 10
CROWD = 20_000  # pictures among which neighbours are looked for
COMMON = 0.7  # share of shingles two texts have in common
MOST_PAIRS = 20_000
LARGEST_GROUP = 50  # equal keys beyond this are a common pattern, not copies


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two samples by their indices; `first` is of the first split."""

    first: int
    second: int
    likeness: float


def near_pairs(first: Split, second: Split) -> list[Pair]:
    """The most alike pairs first."""
    pairs = _texts(first, second) if first.sketch.prints.signatures else _images(first, second)
    return sorted(pairs, key=lambda pair: -pair.likeness)[:MOST_PAIRS]


def _texts(first: Split, second: Split) -> list[Pair]:
    one, other = (split.sketch.prints.joined("signatures") for split in (first, second))
    if one is None or other is None:
        return []
    a, b = meet(minhash.bands(one), minhash.bands(other), same=first is second)
    alike = minhash.similarity(one[a], other[b])
    return _pairs(first, second, a, b, alike, alike >= COMMON)


def _images(first: Split, second: Split) -> list[Pair]:
    """Candidates share a 16-bit piece of their hash, or that of the mirror image; thumbnails decide."""
    prints = [split.sketch.prints for split in (first, second)]
    hashes = [p.joined("gradients") for p in prints]
    thumbs = [p.joined("thumbs") for p in prints]
    if hashes[0] is None or hashes[1] is None or thumbs[0] is None or thumbs[1] is None:
        return []
    found: list[Pair] = []
    for mirror in (0, 1):
        keys = [_pieces(hashes[0][:, 0]), _pieces(hashes[1][:, mirror])]
        a, b = meet(*keys, same=first is second)
        bits = np.bitwise_count(hashes[0][a, 0] ^ hashes[1][b, mirror])
        a, b = a[bits <= BITS], b[bits <= BITS]
        for part in np.array_split(np.arange(len(a)), len(a) // 50_000 + 1):
            one, other = _unit(thumbs[0][a[part]]), _unit(_mirrored(thumbs[1][b[part]], mirror))
            alike = np.einsum("ij,ij->i", one, other)
            close = np.flatnonzero(alike >= LIKENESS)[:MOST_PAIRS]
            close = close[1 - alike[close] <= CLOSER * _surroundings(one[close], thumbs[0])]
            found += _pairs(first, second, a[part], b[part], alike, close)
    return found


def _surroundings(pictures: NDArray[np.float32], thumbs: NDArray[np.uint8]) -> NDArray[np.float32]:
    """How far the tenth most similar picture is: where many are alike, as digits are, it means nothing."""
    crowd = _unit(thumbs[:: max(1, len(thumbs) // CROWD)])
    if len(crowd) <= NEIGHBOUR:
        return np.ones(len(pictures), dtype=np.float32)
    parts = np.array_split(pictures, len(pictures) // 500 + 1)
    tenth = [np.partition(part @ crowd.T, -NEIGHBOUR, axis=1)[:, -NEIGHBOUR] for part in parts]
    return np.asarray(1 - np.concatenate(tenth))


def meet(one: NDArray[np.uint64], other: NDArray[np.uint64], *, same: bool) -> tuple[Array, Array]:
    """Rows of the two that have a key in common in the same column, each pair once."""
    found: list[NDArray[np.int64]] = []
    for column in range(one.shape[1]):
        keys = one[:, column] if same else np.concatenate([one[:, column], other[:, column]])
        found.append(_equal(keys, len(one), same=same))
    pairs = np.unique(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)
    width = len(one) if same else len(one) + len(other)
    a, b = pairs // max(width, 1), pairs % max(width, 1)
    return a, b if same else b - len(one)


def _equal(keys: NDArray[np.uint64], border: int, *, same: bool) -> NDArray[np.int64]:
    """Pairs of rows with equal keys, as one number each; across the border where the rows are of two splits."""
    order = np.argsort(keys, kind="stable")  # equal keys keep their order: the lower row comes first
    ranked = keys[order]
    start = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]])) if len(ranked) else order
    sizes = np.diff(np.append(start, len(ranked)))
    small = np.repeat((sizes > 1) & (sizes <= LARGEST_GROUP), sizes)
    order, ranked = order[small], ranked[small]
    found = []
    for apart in range(1, LARGEST_GROUP):
        equal = np.flatnonzero(ranked[apart:] == ranked[:-apart]) if len(ranked) > apart else order[:0]
        if not len(equal):
            break
        a, b = order[equal], order[equal + apart]
        across = slice(None) if same else (a < border) & (b >= border)
        found.append(a[across] * len(keys) + b[across])
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)


def _pieces(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Overlapping 16-bit pieces of a 64-bit hash: hashes that differ in few bits agree in at least one."""
    shifts = np.arange(0, 56, 8, dtype=np.uint64)
    return np.asarray((hashes[:, None] >> shifts) & np.uint64(0xFFFF))


def _unit(thumbs: NDArray[np.uint8]) -> NDArray[np.float32]:
    rows = thumbs.astype(np.float32)
    rows -= rows.mean(axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6))


def _mirrored(thumbs: NDArray[np.uint8], mirror: int) -> NDArray[np.uint8]:
    if not mirror:
        return thumbs
    side = int(thumbs.shape[1] ** 0.5)
    return thumbs.reshape(-1, side, side)[:, :, ::-1].reshape(thumbs.shape)


def _pairs(first: Split, second: Split, a: Array, b: Array, alike: Array, close: Array) -> list[Pair]:
    one, other = first.sketch.prints.samples, second.sketch.prints.samples
    return [
        Pair(first=int(one[i]), second=int(other[j]), likeness=float(value))
        for i, j, value in zip(a[close], b[close], alike[close], strict=True)
        if not (first is second and one[i] == other[j])
    ]
