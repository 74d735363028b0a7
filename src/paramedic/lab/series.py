"""Windows that slide over a series: do its readings follow each other, or do several series lie between each other?

In one series the reading before is the nearest one. Where the rows of several are mixed, the next reading is often
nearly equal to one some places back, of its own series, and no nearer to its neighbour than to any other.
"""

from __future__ import annotations

import numpy as np

from paramedic.lab.noise import Array

FEWEST_PLACES = 6
FEWEST_WINDOWS = 500
SLIDING = 0.5  # share of windows that another one continues
NEAR = 0.1  # standard deviations
FURTHER_BACK = 1.4  # times as often near as unrelated readings are: a reading some places back, at least
NEIGHBOUR = 0.4  # of what is beyond chance there: the reading before, at most
DEVIATIONS = 6.0


def interleaved(x: Array, y: Array) -> dict[str, float] | None:
    """How often the target is near a reading so many places back, and near its neighbour; None where all is well."""
    windows = x[..., 0] if x.ndim == 3 and x.shape[2] == 1 else x
    if windows.ndim != 2 or not np.issubdtype(windows.dtype, np.floating) or y.shape[1:] not in ((), (1,)):
        return None
    if windows.shape[1] < FEWEST_PLACES or len(windows) < FEWEST_WINDOWS or not _slide(windows):
        return None
    target = y.reshape(len(y)).astype(float)
    if not target.std() > 0 or len(np.unique(target)) < len(target) / 2:
        return None
    limit = NEAR * target.std()
    back = (np.abs(windows[:, ::-1] - target[:, None]) < limit).mean(0)
    chance = float((np.abs(target - np.random.default_rng(0).permutation(target)) < limit).mean())
    best = int(back.argmax())
    noise = np.sqrt(chance * (1 - chance) / len(target))
    if back[best] < max(FURTHER_BACK * chance, chance + DEVIATIONS * noise):
        return None
    if back[0] - chance > NEIGHBOUR * (back[best] - chance):
        return None
    return {"places": best + 1, "near": float(back[best]), "neighbour": float(back[0]), "chance": chance}


def _slide(windows: Array) -> bool:
    begins = {row.tobytes() for row in np.ascontiguousarray(windows[:, :-1])}
    return float(np.mean([row.tobytes() in begins for row in np.ascontiguousarray(windows[:, 1:])])) > SLIDING
