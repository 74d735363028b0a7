"""Values far from all others of their column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from paramedic.audit.audit import Split

FEWEST = 40
MOST_SHARE = 0.02  # beyond this it is a long tail, or two populations


@dataclass(frozen=True, slots=True, kw_only=True)
class Far:
    """The samples, farthest first, and the worst value among them."""

    samples: list[int]
    columns: list[tuple[str, int]]
    value: float = 0.0
    median: float = 0.0
    distance: float = 0.0


def far_values(split: Split, limit: float) -> Far | None:
    """Medians and quartiles come from the kept samples; all rows are read again only where a range looks suspicious."""
    kept = split.sketch.kept
    judged, worst = False, dict[int, float]()
    columns: list[tuple[str, int]] = []
    best = (0.0, 0.0, 0.0)
    for name, values in kept.inputs.items():
        sketch = split.sketch.inputs[name]
        if isinstance(values, list) or len(values) < FEWEST or split.pixel_like or len(sketch.shape) != 1:
            continue
        if values.dtype.kind not in "iuf" or sketch.moments is None or (split.source.fed and "int" in sketch.type):
            continue
        judged = True
        quartiles = split.quartiles(name)
        if quartiles is None:
            continue
        low, median, high = quartiles
        reach = np.maximum(sketch.moments.high - median, median - sketch.moments.low)
        suspicious = np.flatnonzero((high > low) & (reach > limit * (high - low)))
        for place in suspicious.tolist():
            found = _in_column(split, name, place, float(median[place]), limit * float(high[place] - low[place]))
            if 0 < len(found) <= max(2, MOST_SHARE * split.size):
                columns.append((name, place))
                for index, value in found.items():
                    away = abs(value - float(median[place])) / float(high[place] - low[place])
                    worst[index] = max(worst.get(index, 0.0), away)
                    best = max(best, (away, value, float(median[place])))
    if not judged:
        return None
    samples = sorted(worst, key=lambda index: -worst[index])
    return Far(samples=samples, columns=columns, distance=best[0], value=best[1], median=best[2])


def _in_column(split: Split, name: str, place: int, median: float, radius: float) -> dict[int, float]:
    kept = split.sketch.kept
    whole = len(kept.indices) == split.size
    chunks = (
        [(kept.indices, kept.inputs[name])] if whole else [(c.indices, c.inputs[name]) for c in split.source.read()]
    )
    found: dict[int, float] = {}
    for indices, values in chunks:
        column = np.asarray(values, dtype=np.float64).reshape(len(values), -1)[:, place]
        far = np.isfinite(column) & (np.abs(column - median) > radius)
        found |= dict(zip(indices[far].tolist(), column[far].tolist(), strict=True))
    return found
