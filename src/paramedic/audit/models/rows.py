"""Near copies among rows of numbers: copies with noise on all columns, and copies in which one column was changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array
from paramedic.audit.models.crowd import NEIGHBOUR, SMALLEST, Crowd, scaled
from paramedic.audit.models.meeting import meet
from paramedic.audit.models.misses import mostly_two

if TYPE_CHECKING:
    from paramedic.audit.audit import Split

FEWEST = 40  # rows
NARROWEST = 3  # columns that vary
BLOCKS = 16  # of columns: copies differ in one block only
FEWEST_DIRECTIONS = 1.5  # points on a line, such as windows of a wave, come back by themselves
TABLES, WIDTH = 12, 8  # hash tables, and projections of each
TIMES = 4  # blocks in which the tenth neighbour must differ
CHANCE = 3.0  # powers of ten by which a pair must be unlikely to occur at all
DRAWN = 20_000  # pairs that show what is usual
JUDGED = 128  # columns: each can only add to the surprise
MOST_ALIKE = 10  # rows; more are a common pattern, not copies
MOST_PAIRS = 20_000

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPair:
    """Two samples, each with its split, and how far apart they are (0 is equal, 1 is an ordinary neighbour)."""

    first: tuple[str, int]
    second: tuple[str, int]
    distance: float


def row_pairs(splits: Sequence[Split]) -> list[RowPair]:
    """All splits are searched together: what is an ordinary distance, only all rows can tell.

    But where one split alone is augmented, its noise makes rows of the other look close: each is asked alone, too.
    """
    pairs = _pairs(splits)
    if not pairs or len(splits) < 2 or len({bool(split.redrawn) for split in splits}) < 2:
        return pairs
    alone = {(pair.first, pair.second) for split in splits for pair in _pairs([split])}
    return [pair for pair in pairs if pair.first[0] != pair.second[0] or (pair.first, pair.second) in alone]


def _pairs(splits: Sequence[Split]) -> list[RowPair]:
    known = [(split.name, found) for split in splits if (found := split.sketch.rows.joined()) is not None]
    if not known or len({found[1].shape[1] for _, found in known}) > 1:
        return []
    rows = np.concatenate([found[1] for _, found in known])
    owners = [(name, int(index)) for name, found in known for index in found[0]]
    varied = np.asarray([(column != column[0]).any() for column in rows.T])
    rows = rows[:, varied]
    if len(rows) < FEWEST or rows.shape[1] < NARROWEST:
        return []
    nominal = rows.dtype.kind in "iu" and splits[0].source.fed  # ids: numbers without distances
    close = {} if nominal else _with_noise(rows)
    close |= _with_a_change(rows)
    pairs = [RowPair(first=owners[a], second=owners[b], distance=away) for (a, b), away in close.items()]
    return sorted(pairs, key=lambda pair: pair.distance)[:MOST_PAIRS]


def agree(one: Array, other: Array) -> NDArray[np.bool_]:
    """Whether all columns but a few are equal, row by row."""
    return np.asarray(_differing(one, other) <= _allowed(one))


def _with_noise(rows: Array) -> dict[tuple[int, int], float]:
    """Rows far closer to each other than to their other neighbours, and than chance would bring them."""
    crowd = Crowd.of(scaled(rows))
    if crowd is None or crowd.directions < FEWEST_DIRECTIONS:
        return {}
    a, b = meet(_keys(crowd.points, crowd.reach), largest=MOST_ALIKE)
    apart = np.linalg.norm(crowd.points[a] - crowd.points[b], axis=1)
    differing = _differing(rows[a], rows[b])
    near = np.flatnonzero((apart <= crowd.reach) & (differing > 0))
    near = near[np.argsort(apart[near], kind="stable")]
    around = crowd.around(a[near])
    near = near[: len(around)]
    a, b, apart, differing = a[near], b[near], apart[near], differing[near]
    rounding = apart <= SMALLEST * around  # equal but for arithmetic, however few values there are
    close = np.flatnonzero((apart <= crowd.closeness(differing) * around) & (rounding | _surprising(rows, a, b)))
    return {(int(a[i]), int(b[i])): float(apart[i] / around[i]) for i in close}


def _with_a_change(rows: Array) -> dict[tuple[int, int], float]:
    """Rows that are equal but for one block of columns, where other rows have little in common."""
    if rows.shape[1] <= NARROWEST:
        return {}
    blocks = block_keys(rows)
    a, b = meet(blocks.sum(axis=1, keepdims=True, dtype=np.uint64) - blocks, largest=MOST_ALIKE)
    if len(a) and mostly_two(blocks):
        return {}  # rows get there step by step: days of a series, combinations of few values
    differing = _differing(rows[a], rows[b])
    alike = (differing > 0) & (differing <= _allowed(rows))
    a, b = a[alike][:MOST_PAIRS], b[alike][:MOST_PAIRS]
    others = blocks[:: max(1, len(rows) // 5_000)]
    found = {}
    for place in np.flatnonzero(_surprising(rows, a, b)).tolist():
        # In how many blocks the tenth neighbour differs; the row itself and its copy are among the others.
        tenth = int(np.partition((others != blocks[a[place]]).sum(axis=1), NEIGHBOUR + 1)[NEIGHBOUR + 1])
        if tenth >= TIMES:
            found[int(a[place]), int(b[place])] = 1 / tenth
    return found


def _surprising(rows: Array, a: Numbers, b: Numbers) -> NDArray[np.bool_]:
    """Whether pairs are closer, in all columns together, than any pair of so many rows would be by chance."""
    random = np.random.default_rng(0)
    one, other = (rows[random.integers(0, len(rows), DRAWN)] for _ in range(2))
    powers = np.zeros(len(a))
    for column in np.unique(np.linspace(0, rows.shape[1] - 1, JUDGED).astype(int)):
        usual = np.sort(_apart(one[:, column], other[:, column]))
        closer = np.searchsorted(usual, _apart(rows[a, column], rows[b, column]), side="right")
        powers -= np.log10((closer + 1) / (DRAWN + 1))
    return np.asarray(powers > 2 * np.log10(len(rows)) + CHANCE)


def _apart(one: Array, other: Array) -> NDArray[np.float64]:
    """The difference in one column; a missing value is equal to a missing one only."""
    with np.errstate(invalid="ignore"):
        apart = np.abs(one.astype(np.float64) - other)
    return np.asarray(np.where(np.isnan(apart), np.where(np.isnan(one) & np.isnan(other), 0.0, np.inf), apart))


def _keys(points: NDArray[np.float32], reach: float) -> NDArray[np.uint64]:
    """Points within reach fall into one cell of at least one of the grids, which lie at random angles."""
    random = np.random.default_rng(0)
    cell = 8 * reach / points.shape[1] ** 0.5
    keys = np.zeros((len(points), TABLES), dtype=np.uint64)
    for table in range(TABLES):
        directions = random.normal(size=(points.shape[1], WIDTH)).astype(np.float32)
        directions /= np.linalg.norm(directions, axis=0)
        cells = np.floor(points @ directions / np.float32(cell) + random.random(WIDTH, dtype=np.float32))
        keys[:, table] = _hashed(cells.astype(np.int64).view(np.uint64))
    return keys


def block_keys(rows: Array) -> NDArray[np.uint64]:
    """A number for each block of columns, equal where its content is."""
    blocks = np.array_split(np.arange(rows.shape[1]), min(BLOCKS, rows.shape[1]))
    each = [_hashed(_bits(rows[:, block])) * np.uint64(2 * place + 1) for place, block in enumerate(blocks)]
    return np.stack(each, axis=1)


def _bits(numbers: Array) -> NDArray[np.uint64]:
    """Equal where the numbers are: there are two zeros, and many ways to write that a value is missing."""
    return (np.nan_to_num(numbers.astype(np.float64), nan=1.2345e300) + 0.0).view(np.uint64)


def _hashed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """One number per row."""
    key = np.full(len(values), 0x9E3779B97F4A7C15, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column in values.T:
            key = (key ^ column) * np.uint64(0xBF58476D1CE4E5B9)
            key ^= key >> np.uint64(29)
    return key


def _same(one: Array, other: Array) -> NDArray[np.bool_]:
    equal = one == other
    if one.dtype.kind == "f":
        equal |= np.isnan(one) & np.isnan(other)
    return np.asarray(equal)


def _differing(one: Array, other: Array) -> Numbers:
    return np.asarray((~_same(one, other)).sum(axis=1))


def _allowed(rows: Array) -> int:
    return max(1, rows.shape[1] // BLOCKS)
