"""Values far from all others of their column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.audit.chunk import Array
from paramedic.audit.sketches.moments import Floats

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
    judged, worst, best = False, dict[int, float](), (0.0, 0.0, 0.0)
    columns: list[tuple[str, int]] = []
    for name, values in split.sketch.kept.inputs.items():
        sketch, quartiles = split.sketch.inputs[name], split.quartiles(name)
        if quartiles is None or sketch.moments is None or len(values) < FEWEST or split.pixel_like:
            continue
        if len(sketch.shape) != 1 or (split.source.fed and "int" in sketch.type):
            continue
        judged = True
        low, median, high = quartiles
        reach = np.maximum(sketch.moments.high - median, median - sketch.moments.low)
        suspicious = np.flatnonzero((high > low) & (reach > limit * (high - low)))
        for place, found in _far(split, name, suspicious, median, limit * (high - low)).items():
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


def _far(split: Split, name: str, places: Array, median: Floats, radius: Floats) -> dict[int, dict[int, float]]:
    """Per column the samples beyond the radius, with their values."""
    found: dict[int, dict[int, float]] = {int(place): {} for place in places}
    if not found:
        return found
    kept = split.sketch.kept
    whole = len(kept.indices) == split.size
    chunks = (
        iter([(kept.indices, kept.inputs[name])])
        if whole
        else ((c.indices, c.inputs[name]) for c in split.source.read())
    )
    for indices, values in chunks:
        rows = np.asarray(values, dtype=np.float64).reshape(len(values), -1)
        for place, known in found.items():
            column = rows[:, place]
            far = np.isfinite(column) & (np.abs(column - median[place]) > radius[place])
            if len(known) <= MOST_SHARE * split.size + 2:
                known |= dict(zip(indices[far].tolist(), column[far].tolist(), strict=True))
    return found
