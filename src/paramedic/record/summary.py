"""A tensor in a handful of numbers: the packed row that crosses from capture into the record, and what it says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

FIELDS = ("count", "nan", "inf", "zero", "mean", "std", "absmax", "min", "max", "norm")
COUNT, NAN, INF, ZERO, MEAN, STD, ABSMAX, MIN, MAX, NORM = range(len(FIELDS))

# Bin 0 holds the zeros, bin 1 what lies below 2**EDGES[0], bin k what lies from 2**EDGES[k - 2] up to 2**EDGES[k - 1],
# the last bin the rest. Two octaves each where gradients and activations live, coarse beyond. The edges that matter:
# -126 the smallest normal bf16 and fp32; -24 and -14 the smallest and smallest normal fp16; -6 the smallest normal
# fp8 e4m3; 16 where fp16 and fp8 e5m2 overflow; 128 where bf16 and fp32 do.
EDGES = (-126, -64, *range(-32, 17, 2), 32, 64, 128)
BINS = len(EDGES) + 2
HISTOGRAM = len(FIELDS)  # where it begins in the row
WIDTH = HISTOGRAM + BINS


@dataclass(frozen=True, slots=True)
class Summary:
    """What a tensor's values look like. NaN and Inf are counted and left out of everything else.

    `std` is the population's (divided by n). A number that does not exist, such as the mean of nothing, is None.
    """

    count: int
    nan: int
    inf: int
    zeros: int
    mean: float | None
    std: float | None
    absmax: float | None
    min: float | None
    max: float | None
    norm: float
    histogram: tuple[int, ...]  # counts by magnitude, see EDGES; of a large tensor only a part

    @property
    def finite(self) -> int:
        return self.count - self.nan - self.inf

    @property
    def zero_share(self) -> float | None:
        """The share of exact zeros among all elements."""
        return self.zeros / self.count if self.count else None

    @property
    def seen(self) -> int:
        """How many elements the histogram has seen."""
        return sum(self.histogram)

    def share_below(self, exponent: int) -> float | None:
        """The share of non-zero elements smaller in magnitude than 2**exponent, one of EDGES."""
        nonzero = self.seen - self.histogram[0]
        return sum(self.histogram[1 : _bin_from(exponent)]) / nonzero if nonzero else None

    def share_from(self, exponent: int) -> float | None:
        """The share of elements, zeros included, of at least 2**exponent in magnitude, one of EDGES."""
        return sum(self.histogram[_bin_from(exponent) :]) / self.seen if self.seen else None


@dataclass(frozen=True, slots=True)
class NotSummarised:
    """A tensor whose values could not be looked at, and why."""

    reason: str


def from_row(row: Sequence[float] | str) -> Summary | NotSummarised:
    """Unpack a row, or the reason why there is none. A row of NaN is one that nobody has written."""
    if isinstance(row, str):
        return NotSummarised(row)
    if math.isnan(row[COUNT]):
        return NotSummarised("its numbers were never written")
    count, nan, inf, zeros = map(int, row[:MEAN])
    mean, std, absmax, low, high = (None if math.isnan(value) else value for value in row[MEAN:NORM])
    histogram = tuple(map(int, row[HISTOGRAM:WIDTH]))
    return Summary(count, nan, inf, zeros, mean, std, absmax, low, high, row[NORM], histogram)


def _bin_from(exponent: int) -> int:
    """The first bin whose elements are at least 2**exponent."""
    return EDGES.index(exponent) + 2
