"""The layers of a run, step by step: gradients, weights, updates and activations as maps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from paramedic.findings import LossCurve
from paramedic.record.reader import Run
from paramedic.record.samples import Sample
from paramedic.record.summary import COUNT, INF, NAN, NORM, ZERO
from paramedic.reports import heat
from paramedic.reports.heat import Heat

if TYPE_CHECKING:
    import numpy as np

    Rows = np.ndarray[Any, np.dtype[np.float64]]  # see record/summary.py


def maps(run: Run) -> Iterator[Heat]:
    """Those for which the record has values, the ones that people look at first in front."""
    typical = "Root mean square of its elements"
    drawn = (
        heat.draw(_cells(run.samples("gradient"), _size), key="gradients", title="Gradients", caption=typical),
        heat.draw(
            update_ratios(run),
            key="updates",
            title="Update ratios",
            caption="Size of an update relative to the weight that it changes",
        ),
        heat.draw(_cells(run.samples("output"), _size), key="activations", title="Activations", caption=typical),
        _zeros(run),
        heat.draw(_cells(run.samples("weight"), _size), key="weights", title="Weights", caption=typical),
    )
    yield from (found for found in drawn if found is not None)


def update_ratios(run: Run) -> dict[str, dict[int, float]]:
    """By tensor and step: the norm of the update over that of the weight. A weight of zero has no such ratio."""
    weights = {sample.step: _known(sample, _norm) for sample in run.samples("weight")}
    found: dict[str, dict[int, float]] = {name: {} for sample in run.samples("update") for name in sample.names}
    for sample in run.samples("update"):
        before = weights.get(sample.step, {})
        for name, norm in _known(sample, _norm).items():
            if before.get(name):
                found[name][sample.step] = norm / before[name]
    return shortened({name: row for name, row in found.items() if row})


def spread(ratios: dict[str, dict[int, float]]) -> list[LossCurve]:
    """The largest, the median and the smallest ratio of each step, over the tensors that moved in it."""
    found: dict[str, list[tuple[int, float]]] = {"largest": [], "median": [], "smallest": []}
    for step in sorted({step for row in ratios.values() for step in row}):
        moved = sorted((row[step] for row in ratios.values() if row.get(step)), key=lambda v: (math.isnan(v), v))
        for label, place in (("largest", -1), ("median", len(moved) // 2), ("smallest", 0)) if moved else ():
            found[label].append((step, moved[place]))
    if len(ratios) == 1:
        found = {"the only tensor": found["median"]}
    return [
        LossCurve(label=label, steps=tuple(s for s, _ in points), values=tuple(v for _, v in points))
        for label, points in found.items()
    ]


def _zeros(run: Run) -> Heat | None:
    cells = _cells(run.samples("output"), _zero_share)
    some = {name: row for name, row in cells.items() if any(share > 0 for share in row.values())}
    caption = "Share of exact zeros, as behind a ReLU; a layer that stays at 1 is dead"
    return heat.draw(some, key="zeros", title="Zeros among the activations", caption=caption, log=False)


# Whole arrays at a time: a large model has a hundred thousand rows.


def _cells(samples: list[Sample], value: Callable[[Rows], Rows]) -> dict[str, dict[int, float]]:
    found: dict[str, dict[int, float]] = {}
    for sample in samples:
        for name, measured in _known(sample, value).items():
            found.setdefault(name, {})[sample.step] = measured
    return shortened(found)


def _known(sample: Sample, value: Callable[[Rows], Rows]) -> dict[str, float]:
    """By name, of the tensors that have elements and whose numbers were written."""
    known = sample.rows[:, COUNT] > 0
    names = [name for name, is_known in zip(sample.names, known.tolist(), strict=True) if is_known]
    return dict(zip(names, value(sample.rows[known]).tolist(), strict=True))


def _norm(rows: Rows) -> Rows:
    """NaN where an element is not finite: the recorded norm leaves those out."""
    norms = rows[:, NORM].copy()
    norms[rows[:, NAN] + rows[:, INF] > 0] = math.nan
    return norms


def _zero_share(rows: Rows) -> Rows:
    """NaN where an element is not finite: then nobody can say which units are dead."""
    shares = rows[:, ZERO] / rows[:, COUNT]
    shares[rows[:, NAN] + rows[:, INF] > 0] = math.nan
    return shares


def _size(rows: Rows) -> Rows:
    """Comparable between tensors of any size, unlike the norm."""
    return _norm(rows) / rows[:, COUNT] ** 0.5


def shortened(found: dict[str, dict[int, float]]) -> dict[str, dict[int, float]]:
    """Without the model's name where it is the same for all."""
    same = len({name.partition(".")[0] for name in found}) == 1
    return {(name.partition(".")[2] or name) if same else name: row for name, row in found.items()}
