"""How close points of a set lie to each other by nature: distances to neighbours, and how many directions there are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array

NEIGHBOUR = 10  # a copy is judged against the tenth neighbour: a few copies of one row do not hide each other
CLOSEST = 0.1  # of that distance, at most
EXPECTED = 0.01  # pairs that chance may bring, in the whole set
ASKED = 300  # points whose neighbours tell what is usual
SMALLEST = 1e-6  # distance: what arithmetic in single precision leaves of equal numbers
WIDE = 128  # columns; wider points are projected
OPERATIONS = 4e10  # for looking at the surroundings of candidates
AT_ONCE = 1 << 24  # distances

Points = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """Points, and what is an ordinary distance among them."""

    points: Points
    directions: float  # in which they spread, around an ordinary point
    reach: float  # the distance from which on no pair can be

    @classmethod
    def of(cls, points: Points) -> Crowd | None:
        """None where most points coincide, so that distances mean nothing."""
        some = np.random.default_rng(0).permutation(len(points))[:ASKED]
        ranked = _nearest(points, some)
        directions = min((_directions(ranked, near, far) for near, far in ((3, 6), (5, 10))), default=0.0)
        if not directions > 0 or not ranked[:, NEIGHBOUR].max() > 0:
            return None
        closest = _closeness(len(points), np.asarray([directions]))[0]
        reach = max(float(closest * np.quantile(ranked[:, NEIGHBOUR], 0.9)), SMALLEST)
        return cls(points=points, directions=directions, reach=reach)

    def closeness(self, differing: NDArray[np.int64]) -> NDArray[np.float64]:
        """The part of the tenth neighbour's distance below which a pair that differs in so many columns is a copy."""
        return _closeness(len(self.points), np.minimum(self.directions, np.maximum(differing, 1)))

    def around(self, which: NDArray[np.int64]) -> NDArray[np.float32]:
        """The distance to the tenth neighbour, of as many of these points as there is time for."""
        affordable = int(OPERATIONS / (2 * self.points.size))
        return np.asarray(_nearest(self.points, which[: max(affordable, 100)])[:, NEIGHBOUR])


def scaled(rows: Array) -> Points:
    """Columns of one spread, whatever their unit and outliers; what is missing lies in the middle."""
    numbers = np.where(np.isfinite(rows), rows, np.nan) if rows.dtype.kind == "f" else rows.astype(np.float32)
    some = numbers[:: max(1, len(numbers) // 5_000)]
    low, middle, high = np.nan_to_num(np.nanpercentile(some, [25, 50, 75], axis=0))
    # Quartiles alone would blow up columns that are nearly always the same, deviations alone shrink to outliers.
    spread = np.maximum((high - low) / 1.35, np.nan_to_num(np.nanstd(some, axis=0)) / 10)
    points = np.nan_to_num((numbers - middle) / np.where(spread > 0, spread, 1)).astype(np.float32)
    points = points[:, spread > 0]
    if points.shape[1] > WIDE:
        directions = np.random.default_rng(0).normal(size=(points.shape[1], WIDE // 2)) / (WIDE // 2) ** 0.5
        points = points @ directions.astype(np.float32)
    return np.asarray(points)


def _closeness(count: int, directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Neighbours get this much closer by chance once in a hundred sets of this size."""
    return np.asarray(np.minimum(CLOSEST, (EXPECTED / (count * NEIGHBOUR)) ** (1 / directions)))


def _directions(ranked: NDArray[np.float32], near: int, far: int) -> float:
    """In how many directions the points spread: in few, the distance grows fast from one neighbour to the next."""
    with np.errstate(all="ignore"):
        growth = np.log(ranked[:, far] / ranked[:, near])
    growth = growth[np.isfinite(growth)]
    return sum(1 / i for i in range(near, far)) / max(float(np.median(growth)), 1e-3) if len(growth) else 0.0


def _nearest(points: Points, which: NDArray[np.int64]) -> NDArray[np.float32]:
    """The distances to the first neighbours of some points, in order; the first is the point itself."""
    squares = np.einsum("ij,ij->i", points, points)
    found = []
    for part in np.array_split(which, max(1, len(which) * len(points) // AT_ONCE)):
        away = squares[part][:, None] + squares[None] - 2 * (points[part] @ points.T)
        nearest = np.partition(away, NEIGHBOUR, axis=1)[:, : NEIGHBOUR + 1]
        found.append(np.sqrt(np.maximum(np.sort(nearest, axis=1), 0)))
    return np.concatenate(found) if found else np.zeros((0, NEIGHBOUR + 1), dtype=np.float32)
