"""Windows of one series in both splits: no two are equal, but most of their values are the same, further on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array, Values

if TYPE_CHECKING:
    from paramedic.audit.audit import Split

STRETCH = 8  # values
FEWEST = 200  # stretches of val
VARIED = 0.9  # of the samples have a value of their own, in as many of the columns
MOST_VALUES = 20_000_000  # of a split that are looked at
_WEIGHTS = np.random.default_rng(0).integers(1, 1 << 62, STRETCH, dtype=np.uint64) | np.uint64(1)


def common_stretches(train: Split, val: Split) -> float | None:
    """The share of val's stretches that train has in another place; None where there are no series of measurements."""
    shares = []
    for name, values in val.sketch.kept.inputs.items():
        ours, theirs = _series(train.sketch.kept.inputs.get(name)), _series(values)
        if ours is None or theirs is None or ours.shape[1:] != theirs.shape[1:]:
            continue
        numbers, places = _numbered(theirs)
        known, known_places = _numbered(ours)
        if len(numbers) < FEWEST:
            continue
        order = np.argsort(known, kind="stable")
        at = np.minimum(np.searchsorted(known[order], numbers), len(known) - 1)
        shares.append(float(np.mean((known[order][at] == numbers) & (known_places[order][at] != places))))
    return max(shares) if shares else None


def _series(values: Values | None) -> Array | None:
    """(samples, places) of measurements, which hardly ever repeat."""
    if values is None or isinstance(values, list) or values.dtype.kind != "f" or values.ndim < 2:
        return None
    long = [size for size in values.shape[1:] if size > 1]
    if len(long) != 1 or long[0] < 2 * STRETCH or len(values) < 2:
        return None
    rows = values.reshape(len(values), -1)[: max(1, MOST_VALUES // long[0])]
    columns = rows[:, :: max(1, rows.shape[1] // 32)].T
    own = [len(np.unique(column)) > VARIED * len(column) for column in columns]
    return rows if sum(own) > VARIED * len(own) else None


def _numbered(rows: Array) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """A number for each stretch, which depends on its values alone, and the place where it begins."""
    bits = np.ascontiguousarray(rows, dtype=np.float64).view(np.uint64)
    width = bits.shape[1] - STRETCH + 1
    numbers = np.zeros((len(bits), width), dtype=np.uint64)
    for place in range(STRETCH):
        piece = bits[:, place : place + width]
        numbers += (piece ^ (piece >> np.uint64(31))) * _WEIGHTS[place]
    return numbers.reshape(-1), np.tile(np.arange(width), len(bits))
