"""The packed row of numbers that a summary is, how it is put together from parts, and tensors as flat memory.

Imports no torch. The row itself is described in record/summary.py.

A row is ten numbers and a histogram of magnitudes. It is float64 wherever the device has float64, on a GPU too: counts
stay exact beyond 2**24 elements and the norm of a tensor of 1e38s is still a number; what is summed per element is
float32 there (see fused.py), so this costs bytes in the row and nothing per element.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from paramedic.record.summary import (
    ABSMAX,
    BINS,
    COUNT,
    EDGES,
    FIELDS,
    HISTOGRAM,
    INF,
    MAX,
    MEAN,
    MIN,
    NAN,
    NORM,
    STD,
    WIDTH,
    ZERO,
)  # fmt: skip

__all__ = [
    "ABSMAX", "BINS", "COUNT", "EDGES", "FIELDS", "HISTOGRAM", "INF", "MAX", "MEAN", "MIN", "NAN", "NORM", "STD",
    "WIDTH", "ZERO", "combine", "flatten", "histogram", "pieces", "write_rows",
]  # fmt: skip

if TYPE_CHECKING:
    import torch

Array = np.ndarray[Any, np.dtype[Any]]

FIRST_SLOTS = np.array([0, *(edge + 127 for edge in EDGES)])  # where each begins, by the exponent field of a float32

# The histogram of a larger tensor is counted on pieces spread evenly over it, about so many elements in all: to count
# an element costs several times what all its other numbers cost, and the shares are right to about 0.3 % so. All other
# numbers always see every element.
SEEN_ON_HOST = 1 << 17
SEEN_ON_DEVICE = 1 << 18

# What a piece of a tensor is reduced to before the pieces are merged; `finite` counts the elements behind the moments.
PART = ("finite", "nan", "inf", "zero", "mean", "std", "min", "max")
NOTHING = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, float("inf"), float("-inf"))


def combine(parts: Any, xp: Any) -> Any:
    """One part per tensor from many, shaped (tensor, part, PART). `xp` is numpy or torch. Scaled: nothing overflows."""
    finite, nan, inf, zero, mean, std, low, high = (parts[..., column] for column in range(len(PART)))
    low, high, n = xp.amin(low, 1), xp.amax(high, 1), finite.sum(1)
    top = xp.maximum(-low, high)
    scale = xp.where(top > 0, top, 1.0)
    weight = finite / xp.where(n > 0, n, 1.0)[:, None]
    mean, std = mean / scale[:, None], std / scale[:, None]
    centre = (weight * mean).sum(1)
    variance = (weight * (std * std + (mean - centre[:, None]) ** 2)).sum(1)
    return xp.stack([n, nan.sum(1), inf.sum(1), zero.sum(1), centre * scale, xp.sqrt(variance) * scale, low, high], 1)


def write_rows(parts: Any, histogram: Any, times: Any, rows: Any, xp: Any) -> None:
    """Fill packed rows from one part per tensor, each of whose elements is repeated `times`."""
    n, nan, inf, zero, mean, std, low, high = (parts[:, column] for column in range(len(PART)))
    top = xp.maximum(-low, high)
    scale = xp.where(top > 0, top, 1.0)
    rows[:, COUNT], rows[:, NAN], rows[:, INF], rows[:, ZERO] = (
        (n + nan + inf) * times,
        nan * times,
        inf * times,
        zero * times,
    )
    nothing = xp.where(n > 0, 0.0, float("nan"))  # the mean of nothing does not exist
    rows[:, MEAN], rows[:, STD], rows[:, ABSMAX] = mean + nothing, std + nothing, top + nothing
    rows[:, MIN], rows[:, MAX] = low + nothing, high + nothing
    rows[:, NORM] = scale * xp.sqrt(n * times * ((mean / scale) ** 2 + (std / scale) ** 2))
    rows[:, HISTOGRAM:] = histogram * times[:, None]


def histogram(x: Array, zero: Any, lengths: Array | None = None) -> Array:
    """Counts by magnitude, one row per segment; the sign and exponent bits of a float32 are all it takes."""
    if x.dtype == np.float32:
        slot = x.view(np.uint32) >> np.uint32(23)
    else:
        field = (x.view(np.int64) >> 52) & 2047
        slot = np.where(field == 2047, 511, np.clip(field - 896, 0, 255))  # the largest are 255, NaN and Inf 511
    segments = 1 if lengths is None else len(lengths)
    slot = slot.astype(np.int64) if lengths is None else slot + np.repeat(np.arange(segments) * 512, lengths)
    counts = np.bincount(slot, minlength=segments * 512).reshape(segments, 2, 256)
    counts[:, 1, 255] = 0
    counts = counts.sum(1)
    if x.dtype == np.float32:
        counts[:, 255] = 0  # here, too, NaN and Inf
    rows = np.zeros((segments, BINS))
    rows[:, 0], rows[:, 1:] = zero, np.add.reduceat(counts, FIRST_SLOTS, axis=1)
    rows[:, 1] -= zero
    return rows


def flatten(tensor: torch.Tensor) -> tuple[torch.Tensor, int]:
    """The same values in memory order, and how many times each is repeated by broadcasting.

    The order of elements means nothing to a summary, so transposed and channels-last tensors come out flat without a
    copy, and an expanded dimension is looked at once. What has gaps keeps its shape.
    """
    times = 1
    if tensor.is_neg() or tensor._is_zerotensor():
        tensor = tensor.clone().resolve_neg()
    if not tensor.is_contiguous():
        for dim in reversed(range(tensor.dim())):
            if tensor.stride(dim) == 0 and tensor.shape[dim] > 1:
                times *= tensor.shape[dim]
                tensor = tensor.select(dim, 0)
        tensor = tensor.permute(sorted(range(tensor.dim()), key=tensor.stride, reverse=True))
    return (tensor.view(-1) if tensor.is_contiguous() else tensor), times


def pieces(tensor: torch.Tensor, size: int) -> Iterator[torch.Tensor]:
    """The tensor as flat pieces of at most `size` elements; copies at most that many at a time."""
    if tensor.numel() <= size:
        yield tensor.reshape(-1)
        return
    row = tensor.numel() // tensor.shape[0]
    for part in tensor.split(max(1, size // row)):
        yield from pieces(part[0] if row > size else part, size)
