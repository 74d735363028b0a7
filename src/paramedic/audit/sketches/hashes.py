"""A 64-bit number for the content of each sample: equal content, equal number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array, Values

Hashes = NDArray[np.int64]


def of_samples(inputs: Mapping[str, Values], size: int) -> Hashes:
    """Python's own hash of each sample's bytes: SipHash, fast, and safe enough against chance.

    It differs between processes unless PYTHONHASHSEED is set, so the numbers are never written anywhere.
    """
    columns = [of_values(values) for values in inputs.values() if len(values) == size]
    if not columns:
        return np.zeros(size, dtype=np.int64)
    if len(columns) == 1:
        return columns[0]
    return np.asarray([hash(row) for row in zip(*(column.tolist() for column in columns), strict=True)], dtype=np.int64)


def of_values(values: Values) -> Hashes:
    if isinstance(values, list):
        return np.asarray([hash(_key(value)) for value in values], dtype=np.int64)
    rows = np.ascontiguousarray(values).reshape(len(values), -1)
    width = rows.shape[1] * rows.itemsize
    if not width:
        return np.zeros(len(rows), dtype=np.int64)
    content = rows.data.cast("B")  # slicing it copies nothing until bytes() does, and that stays in the cache
    return np.fromiter(
        (hash(bytes(content[start : start + width])) for start in range(0, len(rows) * width, width)),
        dtype=np.int64,
        count=len(rows),
    )


def repeated(hashes: Hashes) -> tuple[Array, Array]:
    """Groups of equal numbers: for each member its position, and the number of its group; sorted by group."""
    order = np.argsort(hashes, kind="stable")
    ranked = hashes[order]
    new = np.ones(len(ranked), dtype=bool)
    new[1:] = ranked[1:] != ranked[:-1]
    group = np.cumsum(new) - 1
    sizes = np.bincount(group) if len(group) else np.zeros(0, dtype=np.int64)
    member = sizes[group] > 1 if len(group) else np.zeros(0, dtype=bool)
    return order[member], group[member]


def _key(value: object) -> Any:
    return (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value
