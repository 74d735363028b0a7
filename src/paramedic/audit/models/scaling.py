"""Which numbers a scaling was fitted on: the training part, or both parts together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramedic.audit.sketches.moments import Moments

if TYPE_CHECKING:
    from paramedic.audit.audit import Split

FEWEST_COLUMNS = 2
FEWEST_SAMPLES = 20


def scaled_together(train: Split, val: Split, tolerance: float) -> tuple[str, int, str] | None:
    """How both parts were scaled as one, in how many columns, and what train is like alone; None if they were not."""
    for name, sketch in train.sketch.inputs.items():
        other = val.sketch.inputs.get(name)
        if sketch.moments is None or other is None or other.moments is None or train.pixel_like:
            continue
        ours, theirs = sketch.moments, other.moments
        if len(ours.mean) != len(theirs.mean) or min(train.size, val.size) < FEWEST_SAMPLES:
            continue
        found = _standardised(ours, ours.merge(theirs), tolerance) or _squeezed(ours, ours.merge(theirs), tolerance)
        if found is not None:
            return found
    return None


def _standardised(train: Moments, both: Moments, tolerance: float) -> tuple[str, int, str] | None:
    bessel = np.sqrt(both.count / np.maximum(both.count - 1, 1))
    unit = (np.abs(both.std - 1) < tolerance) | (np.abs(both.std * bessel - 1) < tolerance)
    joint = unit & (np.abs(both.mean) < tolerance)
    alone = (np.abs(train.mean) > 10 * tolerance) | (np.abs(train.std - 1) > 10 * tolerance)
    hit = joint & alone & ~both.constant
    if hit.sum() < FEWEST_COLUMNS or hit.sum() < 0.5 * (~both.constant).sum():
        return None
    i = int(np.flatnonzero(hit)[0])
    return "have mean 0 and deviation 1", int(hit.sum()), f"mean {train.mean[i]:.3g}, deviation {train.std[i]:.3g}"


def _squeezed(train: Moments, both: Moments, tolerance: float) -> tuple[str, int, str] | None:
    varied = ~both.constant
    ends = (np.abs(both.low) < tolerance**2) & (np.abs(both.high - 1) < tolerance**2)
    inside = (train.low > tolerance) | (train.high < 1 - tolerance)
    hit = ends & inside & varied
    if not ends[varied].all() or hit.sum() < 3:
        return None
    i = int(np.flatnonzero(hit)[0])
    return "go exactly from 0 to 1", int(hit.sum()), f"there from {train.low[i]:.3g} to {train.high[i]:.3g}"
