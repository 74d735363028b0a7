"""Samples that are nearly the same: images by gradient hash and thumbnail, texts by MinHash, rows by their columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array
from paramedic.audit.models.crops import shows_part_of
from paramedic.audit.models.meeting import meet
from paramedic.audit.models.pixels import with_one_grain
from paramedic.audit.models.rows import agree, row_pairs
from paramedic.audit.sketches import minhash
from paramedic.audit.sketches.pictures import channel_axis

if TYPE_CHECKING:
    from paramedic.audit.audit import Split

BITS = 10  # of 64 that may differ between gradient hashes
LIKENESS = 0.985  # correlation of thumbnails
CROPPED = 0.94  # of thumbnails, where one picture may be a crop of the other
FAR_CLOSER, MOST_CROPS = 0.15, 2_000  # than the tenth neighbour, then; and pairs that are looked at in full
SAME_COLOUR = 0.12  # of the contrast, by which the colour of any part may differ
CLOSER = 0.35  # than the tenth neighbour, as a ratio of distances
NEIGHBOUR = 10
SOME, MOSTLY = 2_000, 0.9  # pictures of which the nearest is looked for, and the share of them that is usual
CROWD = 20_000  # pictures among which neighbours are looked for
COMMON = 0.7  # share of shingles two texts have in common
TEMPLATE = 0.3  # share of shingles that texts have in common by chance: they are made from templates
OFTEN = 0.05  # of the pairs, in which they have
DRAWN, CHANCE = 50_000, 1e-3  # pairs that show what is usual, and how many of them may be copies
MOST_PAIRS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two samples by their indices; `first` is of the first split."""

    first: int
    second: int
    likeness: float


def near_pairs(splits: Sequence[Split]) -> dict[tuple[str, str], list[Pair]]:
    """The most alike pairs first, inside each split and across."""
    found: dict[tuple[str, str], list[Pair]] = {}
    for at, first in enumerate(splits):
        for second in splits[at:]:
            found[first.name, second.name] = [*_texts(first, second), *_images(first, second)]
    if not any(split.sketch.prints.count for split in splits):
        for pair in row_pairs(splits):
            (one, a), (other, b) = pair.first, pair.second
            found[one, other].append(Pair(first=a, second=b, likeness=1 - pair.distance))
    return {key: sorted(pairs, key=lambda pair: -pair.likeness)[:MOST_PAIRS] for key, pairs in found.items()}


def _texts(first: Split, second: Split) -> list[Pair]:
    one, other = (split.sketch.prints.joined("signatures") for split in (first, second))
    if one is None or other is None:
        return []
    a, b = meet(minhash.bands(one), None if first is second else minhash.bands(other))
    worded = minhash.worded(one)[a] & minhash.worded(other)[b]
    a, b = a[worded], b[worded]
    alike = minhash.similarity(one[a], other[b])
    close = (alike >= _copied(one, other)) & _else_alike(first, second, a, b)
    close[close] = minhash.counted(one[a[close]], other[b[close]]) >= COMMON
    return _pairs(first, second, a, b, alike, close)


def _copied(one: NDArray[np.uint32], other: NDArray[np.uint32]) -> float:
    """What two texts must have in common to be copies: far more than those that merely share a template."""
    random = np.random.default_rng(0)
    a, b = random.integers(0, len(one), DRAWN), random.integers(0, len(other), DRAWN)
    apart = (one[a] != other[b]).any(axis=1)
    usual = minhash.similarity(one[a[apart]], other[b[apart]])
    if not len(usual) or float(np.quantile(usual, 1 - OFTEN)) < TEMPLATE:
        return COMMON
    return max(COMMON, 1 - CLOSER * (1 - float(np.quantile(usual, 1 - CHANCE))))


def _else_alike(first: Split, second: Split, a: Array, b: Array) -> NDArray[np.bool_]:
    """Texts with other columns beside them are copies only where those agree as well."""
    ours, theirs = first.sketch.rows.joined(), second.sketch.rows.joined()
    if ours is None or theirs is None or ours[1].shape[1] != theirs[1].shape[1]:
        return np.ones(len(a), dtype=bool)
    both = (a < len(ours[1])) & (b < len(theirs[1]))
    both[both] = agree(ours[1][a[both]], theirs[1][b[both]])
    return both


def _images(first: Split, second: Split) -> list[Pair]:
    """Candidates share a 16-bit piece of their hash, or that of the mirror image; thumbnails decide."""
    prints = [split.sketch.prints for split in (first, second)]
    hashes = [p.joined("gradients") for p in prints]
    thumbs = [p.joined("thumbs") for p in prints]
    if hashes[0] is None or hashes[1] is None or thumbs[0] is None or thumbs[1] is None:
        return []
    found: list[Pair] = []
    usual = _nearest(thumbs[0])
    for mirror in (0, 1):
        keys = [_pieces(hashes[0][:, 0]), _pieces(hashes[1][:, mirror])]
        a, b = meet(keys[0], None if first is second and not mirror else keys[1])
        if first is second:
            a, b = a[a < b], b[a < b]
        bits = np.bitwise_count(hashes[0][a, 0] ^ hashes[1][b, mirror])
        a, b = a[bits <= BITS], b[bits <= BITS]
        for part in np.array_split(np.arange(len(a)), len(a) // 50_000 + 1):
            one, other = _unit(thumbs[0][a[part]]), _unit(_mirrored(thumbs[1][b[part]], mirror))
            alike = np.einsum("ij,ij->i", one, other)
            close = np.flatnonzero(alike >= LIKENESS)[:MOST_PAIRS]
            close = close[_same_colours(first, second, a[part][close], b[part][close], mirror)]
            close = close[1 - alike[close] <= CLOSER * np.minimum(_surroundings(one[close], thumbs[0]), usual)]
            found += _pairs(first, second, a[part], b[part], alike, close)
            perhaps = np.setdiff1d(np.flatnonzero(alike >= max(CROPPED, 1 - FAR_CLOSER * usual)), close)[:MOST_CROPS]
            perhaps = perhaps[1 - alike[perhaps] <= FAR_CLOSER * _surroundings(one[perhaps], thumbs[0])]
            found += _cropped(_pairs(first, second, a[part], b[part], alike, perhaps), first, second, mirror)
    return with_one_grain(first, second, found)


def _cropped(pairs: list[Pair], first: Split, second: Split, mirror: int) -> list[Pair]:
    """Those of the pairs in which one picture shows a part of the other, or the same in another brightness."""
    kept = [split.sketch.kept for split in (first, second)]
    rows = [{index: row for row, index in enumerate(one.indices.tolist())} for one in kept]
    known = [pair for pair in pairs if pair.first in rows[0] and pair.second in rows[1]]
    ours, theirs = (next(iter(one.inputs.values())) for one in kept) if known else ((), ())
    return [
        pair
        for pair in known
        if shows_part_of(ours[rows[0][pair.first]], _turned(np.asarray(theirs[rows[1][pair.second]]), mirror))
    ]


def _turned(picture: Array, mirror: int) -> Array:
    return picture if not mirror else np.flip(picture, axis=-1 if channel_axis(picture.shape) in (0, None) else 1)


def _same_colours(first: Split, second: Split, a: Array, b: Array, mirror: int) -> NDArray[np.bool_]:
    """Whether the pixels agree, too: one shape in two colours is not a copy."""
    ours, theirs = (split.sketch.prints.joined("patches") for split in (first, second))
    assert ours is not None and theirs is not None
    one, other = ours[a], theirs[b][..., ::-1] if mirror else theirs[b]
    both = np.stack([one, other], axis=-1)
    furthest = np.abs(one - other).max(axis=(1, 2, 3))
    return np.asarray(furthest <= SAME_COLOUR * np.ptp(both, axis=(1, 2, 3, 4)))


def _surroundings(pictures: NDArray[np.float32], thumbs: NDArray[np.uint8]) -> NDArray[np.float32]:
    """How far the tenth most similar picture is: where many are alike, as digits are, it means nothing."""
    crowd = _unit(thumbs[:: max(1, len(thumbs) // CROWD)])
    if len(crowd) <= NEIGHBOUR:
        return np.ones(len(pictures), dtype=np.float32)
    parts = np.array_split(pictures, len(pictures) // 500 + 1)
    tenth = [np.partition(part @ crowd.T, -NEIGHBOUR, axis=1)[:, -NEIGHBOUR] for part in parts]
    return np.asarray(1 - np.concatenate(tenth))


def _nearest(thumbs: NDArray[np.uint8]) -> float:
    """How far most pictures are from their nearest: shots of one thing are all as near to each other as that."""
    some = _unit(thumbs[:: max(1, len(thumbs) // SOME)])
    if len(some) <= NEIGHBOUR:
        return 1.0
    likeness = some @ some.T
    np.fill_diagonal(likeness, -1)
    return float(np.quantile(1 - likeness.max(axis=1), MOSTLY))


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
