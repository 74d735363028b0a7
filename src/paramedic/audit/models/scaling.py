"""Which numbers a scaling was fitted on: the training part, both parts together, or each part by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.sketches.moments import Moments

if TYPE_CHECKING:
    from paramedic.audit.audit import Split

FEWEST_COLUMNS = 2
FEWEST_EACH = 3  # columns that must all be scaled in one way
FEWEST_SAMPLES = 20
FEWEST_AXES, MOST_AXES = 3, 256  # of a PCA

Hits = tuple[str, NDArray[np.bool_]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaled:
    """Columns whose scaling knows the validation part."""

    how: str  # "have mean 0 and deviation 1 over train and val together …"
    columns: tuple[str, ...]
    apart: bool  # each part by its own statistics, rather than both by common ones


def leaking(train: Split, val: Split, tolerance: float) -> Scaled | None:
    """None where nothing says that val took part in its own scaling."""
    for name, sketch in train.sketch.inputs.items():
        other = val.sketch.inputs.get(name)
        if sketch.moments is None or other is None or other.moments is None or train.pixel_like:
            continue
        ours, theirs = sketch.moments, other.moments
        if len(ours.mean) != len(theirs.mean) or min(train.size, val.size) < FEWEST_SAMPLES:
            continue
        both = ours.merge(theirs)
        apart = _each_by_itself(ours, theirs, tolerance)
        found = apart or _standardised(ours, both, tolerance) or _squeezed(ours, both, tolerance)
        found = found or _turned(train, val, name, tolerance)
        if found is not None:
            columns = train.columns(name, np.flatnonzero(found[1]).tolist())
            return Scaled(how=found[0], columns=columns, apart=apart is not None)
    return None


def scaled_otherwise(train: Moments, val: Moments, tolerance: float) -> str | None:
    """In words: one part has mean 0 and deviation 1 in every column, the other goes from exactly 0 to 1 in each."""
    varied = ~(train.constant | val.constant)
    if varied.sum() < FEWEST_EACH or min(train.count.min(), val.count.min()) < FEWEST_SAMPLES:
        return None
    for one, other, names in ((train, val, ("train", "val")), (val, train, ("val", "train"))):
        ends = (np.abs(other.low) < tolerance**2) & (np.abs(other.high - 1) < tolerance**2)
        if bool((_is_standard(one, tolerance) & ends)[varied].all()):
            return f"{names[0]} has mean 0 and deviation 1 in every column, {names[1]} goes from 0 to 1 in each"
    return None


def _is_standard(moments: Moments, tolerance: float) -> NDArray[np.bool_]:
    """Columns with mean 0 and deviation 1 (of either kind)."""
    bessel = np.sqrt(moments.count / np.maximum(moments.count - 1, 1))
    unit = (np.abs(moments.std - 1) < tolerance) | (np.abs(moments.std * bessel - 1) < tolerance)
    return np.asarray(unit & (np.abs(moments.mean) < tolerance) & ~moments.constant)


def _enough(hit: NDArray[np.bool_], moments: Moments) -> bool:
    return bool(hit.sum() >= FEWEST_COLUMNS and hit.sum() >= 0.5 * (~moments.constant).sum())


def _each_by_itself(train: Moments, val: Moments, tolerance: float) -> Hits | None:
    """By the statistics of train, no column of val comes out at exactly 0 and 1."""
    hit = _is_standard(train, tolerance) & _is_standard(val, tolerance)
    if not _enough(hit, train):
        return None
    return "have mean 0 and deviation 1 in train alone, and again in val alone", hit


def _standardised(train: Moments, both: Moments, tolerance: float) -> Hits | None:
    alone = (np.abs(train.mean) > 10 * tolerance) | (np.abs(train.std - 1) > 10 * tolerance)
    hit = _is_standard(both, tolerance) & alone
    if not _enough(hit, both):
        return None
    i = int(np.flatnonzero(hit)[0])
    alone_is = f"mean {train.mean[i]:.3g}, deviation {train.std[i]:.3g}"
    return f"have mean 0 and deviation 1 over train and val together, and not in train alone ({alone_is})", hit


def _squeezed(train: Moments, both: Moments, tolerance: float) -> Hits | None:
    varied = ~both.constant
    ends = (np.abs(both.low) < tolerance**2) & (np.abs(both.high - 1) < tolerance**2)
    inside = (train.low > tolerance) | (train.high < 1 - tolerance)
    hit = ends & inside & varied
    if not ends[varied].all() or hit.sum() < 3:
        return None
    i = int(np.flatnonzero(hit)[0])
    alone_is = f"there from {train.low[i]:.3g} to {train.high[i]:.3g}"
    return f"go exactly from 0 to 1 over train and val together, and not in train alone ({alone_is})", hit


def _turned(train: Split, val: Split, name: str, tolerance: float) -> Hits | None:
    """Mean 0, and no two columns correlated, over both parts together: the axes of a PCA that was fitted on both."""
    ours, theirs = (_all_of(split, name) for split in (train, val))
    if ours is None or theirs is None or not FEWEST_AXES <= ours.shape[1] <= MOST_AXES:
        return None
    alone, both = _uneven(ours), _uneven(np.concatenate([ours, theirs]))
    if max(both) > tolerance or min(alone) < 10 * tolerance:
        return None
    how = f"have mean 0 and are uncorrelated over train and val together, and not in train alone (up to {alone[1]:.2g})"
    return how, np.ones(ours.shape[1], dtype=bool)


def _uneven(rows: NDArray[np.float64]) -> tuple[float, float]:
    """The largest mean, in deviations, and the largest correlation of two columns."""
    spread = rows.std(axis=0)
    if not bool((spread > 0).all()):
        return np.inf, np.inf
    scaled = (rows - rows.mean(axis=0)) / spread
    between = np.abs(scaled.T @ scaled / len(rows) - np.eye(rows.shape[1]))
    return float(np.abs(rows.mean(axis=0) / spread).max()), float(between.max())


def _all_of(split: Split, name: str) -> NDArray[np.float64] | None:
    """None unless every sample was kept."""
    kept = split.sketch.kept
    values = kept.inputs.get(name)
    if values is None or isinstance(values, list) or values.dtype.kind != "f" or len(kept.indices) != split.size:
        return None
    rows = np.asarray(values, dtype=np.float64).reshape(len(values), -1)
    return rows if bool(np.isfinite(rows).all()) else None
