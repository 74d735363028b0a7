"""The layers of a run, step by step: gradients, weights, updates and activations as maps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from paramedic.findings import LossCurve
from paramedic.record.reader import Run
from paramedic.record.samples import Sample
from paramedic.record.summary import Summary
from paramedic.reports import heat
from paramedic.reports.heat import Heat


def maps(run: Run) -> Iterator[Heat]:
    """Those for which the record has values, the ones that people look at first in front."""
    typical = "Root mean square of its elements"
    drawn = (
        heat.draw(_cells(run.samples("gradient"), _size), key="gradients", title="Gradients", caption=typical),
        heat.draw(
            update_ratios(run),
            key="updates",
            title="Update ratio",
            caption="Size of an update relative to the weight that it changes",
        ),
        heat.draw(_cells(run.samples("output"), _size), key="activations", title="Activations", caption=typical),
        _zeros(run),
        heat.draw(_cells(run.samples("weight"), _size), key="weights", title="Weights", caption=typical),
    )
    yield from (found for found in drawn if found is not None)


def update_ratios(run: Run) -> dict[str, dict[int, float]]:
    """By tensor and step: the norm of the update over that of the weight. A weight of zero has no such ratio."""
    weights = {sample.step: sample.summaries for sample in run.samples("weight")}
    found: dict[str, dict[int, float]] = {name: {} for sample in run.samples("update") for name in sample.names}
    for sample in run.samples("update"):
        before = weights.get(sample.step, {})
        for name, update in sample.summaries.items():
            weight = before.get(name)
            if weight is None or not weight.norm:
                continue
            bad = update.nan or update.inf or weight.nan or weight.inf
            found[name][sample.step] = math.nan if bad else update.norm / weight.norm
    return _named({name: row for name, row in found.items() if row})


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
    cells = _cells(run.samples("output"), lambda summary: summary.zero_share)
    some = {name: row for name, row in cells.items() if any(row.values())}
    caption = "Share of exact zeros, as behind a ReLU; a layer that stays at 1 is dead"
    return heat.draw(some, key="zeros", title="Zeros among the activations", caption=caption, log=False)


def _cells(samples: list[Sample], value: Callable[[Summary], float | None]) -> dict[str, dict[int, float]]:
    found: dict[str, dict[int, float]] = {}
    for sample in samples:
        for name, summary in sample.summaries.items():
            measured = value(summary)
            if measured is not None:
                found.setdefault(name, {})[sample.step] = measured
    return _named(found)


def _size(summary: Summary) -> float | None:
    """Comparable between tensors of any size, unlike the norm."""
    if summary.nan or summary.inf:
        return math.nan
    return summary.norm / math.sqrt(summary.count) if summary.count else None


def _named(found: dict[str, dict[int, float]]) -> dict[str, dict[int, float]]:
    """Without the model's name where it is the same for all."""
    same = len({name.partition(".")[0] for name in found}) == 1
    return {(name.partition(".")[2] or name) if same else name: row for name, row in found.items()}
