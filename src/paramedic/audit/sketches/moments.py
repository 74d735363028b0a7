"""Count, mean, spread and range of every feature, exact and mergeable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array

Floats = NDArray[np.float64]


@dataclass(slots=True)
class Moments:
    """Statistics of the finite values of each feature."""

    count: Floats
    mean: Floats
    squares: Floats  # sum of squared distances from the mean
    low: Floats
    high: Floats

    @classmethod
    def of(cls, rows: Array) -> Moments:
        """Of a matrix of samples by features; values that are not finite are left out."""
        with np.errstate(all="ignore"):
            total = rows.sum(axis=0, dtype=np.float64)
            if np.isfinite(total).all():
                count = np.full(rows.shape[1], float(len(rows)))
                mean = total / len(rows)
                away = rows - mean
                squares = np.einsum("ij,ij->j", away, away)
                return cls(count, mean, squares, _float(rows.min(axis=0)), _float(rows.max(axis=0)))
            good = np.isfinite(rows)
            count = good.sum(axis=0).astype(np.float64)
            mean = np.where(good, rows, 0).sum(axis=0, dtype=np.float64) / np.maximum(count, 1)
            away = np.where(good, rows - mean, 0)
            low = np.where(good, rows, np.inf).min(axis=0)
            high = np.where(good, rows, -np.inf).max(axis=0)
        return cls(count, mean, np.einsum("ij,ij->j", away, away), _float(low), _float(high))

    def merge(self, other: Moments) -> Moments:
        count = self.count + other.count
        safe = np.maximum(count, 1)
        distance = other.mean - self.mean
        return Moments(
            count,
            self.mean + distance * other.count / safe,
            self.squares + other.squares + distance**2 * self.count * other.count / safe,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    @property
    def std(self) -> Floats:
        return np.sqrt(self.squares / np.maximum(self.count, 1))

    @property
    def constant(self) -> NDArray[np.bool_]:
        return (self.low == self.high) & (self.count > 1)

    def pooled(self) -> tuple[float, float]:
        """Mean and deviation of all features taken together."""
        total = max(float(self.count.sum()), 1.0)
        mean = float((self.mean * self.count).sum() / total)
        squares = float((self.squares + self.count * (self.mean - mean) ** 2).sum())
        return mean, (squares / total) ** 0.5


def _float(values: Array) -> Floats:
    return np.asarray(values, dtype=np.float64)
