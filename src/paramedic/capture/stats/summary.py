"""A tensor in a handful of numbers, on the host. Imports no torch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from paramedic.capture.stats import layout


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
    histogram: tuple[int, ...]  # counts by magnitude, see layout.EDGES; of a large tensor only a part

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
        """The share of non-zero elements smaller in magnitude than 2**exponent, one of layout.EDGES."""
        nonzero = self.seen - self.histogram[0]
        return sum(self.histogram[1 : _bin_from(exponent)]) / nonzero if nonzero else None

    def share_from(self, exponent: int) -> float | None:
        """The share of elements, zeros included, of at least 2**exponent in magnitude, one of layout.EDGES."""
        return sum(self.histogram[_bin_from(exponent) :]) / self.seen if self.seen else None


@dataclass(frozen=True, slots=True)
class NotSummarised:
    """A tensor whose values could not be looked at, and why."""

    reason: str


def from_row(row: Sequence[float]) -> Summary | NotSummarised:
    """Unpack a row. A row of NaN is one that nobody has written."""
    if math.isnan(row[layout.COUNT]):
        return NotSummarised("its numbers were never written")
    count, nan, inf, zeros = map(int, row[: layout.MEAN])
    mean, std, absmax, low, high = (None if math.isnan(value) else value for value in row[layout.MEAN : layout.NORM])
    histogram = tuple(map(int, row[layout.HISTOGRAM : layout.WIDTH]))
    return Summary(count, nan, inf, zeros, mean, std, absmax, low, high, row[layout.NORM], histogram)


def _bin_from(exponent: int) -> int:
    """The first bin whose elements are at least 2**exponent."""
    return layout.EDGES.index(exponent) + 2
