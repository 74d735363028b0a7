"""Values that stand apart from all others of their column: markers for "missing", another unit, a lost sign, or far."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array
from paramedic.audit.sketches.moments import Floats

if TYPE_CHECKING:
    from paramedic.audit.audit import Split

FEWEST = 40
MOST_SHARE = 0.02  # beyond this it is a long tail, or two populations
MOST_MARKED = 0.25  # of a column that a marker may fill: quartiles still show the others
MOST_CONVERTED = 0.05  # of a column that may be in another unit
FEWEST_CONVERTED = 3
_UNITS = (2.54, 10.0, 12.0, 25.4, 30.48, 39.37, 3.281, 2.2046, 28.35, 60.0, 100.0, 1000.0, 3600.0, 1.609, 4.184, 18.02)
FACTORS = (*_UNITS, *(1 / unit for unit in _UNITS))  # inches to cm, grams to kg, minutes to hours, mg/dl to mmol/l …
APART = 3.0  # ranges of all other values that lie between them and a value of another kind
SUSPICIOUS = 3.0  # interquartile ranges from the median: worth a closer look
FEWEST_VALUES = 10  # different ones, in a column of measurements
MOST_COLUMNS = 64  # that are looked at closely

TARGET = "\0target"


@dataclass(frozen=True, slots=True, kw_only=True)
class Strange:
    """Samples that stand apart in one column, the farthest first."""

    kind: str  # "marker", "unit", "negative": certain. "far": perhaps a long tail
    name: str  # of the input, or TARGET
    place: int
    samples: list[int]
    value: float  # of the first sample
    usual: tuple[float, float]  # between which all others lie
    distance: float  # of the first from the median, in interquartile ranges


def strange_values(split: Split, limit: float, *, target: bool) -> list[Strange] | None:
    """None where there are no columns of numbers. A column is read again only where its range looks suspicious."""
    found: list[Strange] = []
    judged = False
    for name, place, indices, values in _columns(split, target):
        judged = True
        if place >= 0:
            one = _strange(values, indices, limit)
            found += [] if one is None or _on_a_curve(split, name, one) else [replace(one, name=name, place=place)]
    return found if judged else None


def _on_a_curve(split: Split, name: str, one: Strange) -> bool:
    """Strange for its place, but ordinary at others: all points of a curve have one unit."""
    if name == TARGET or not split.of_curves:
        return False
    kept = split.sketch.kept
    others = _rows(kept.inputs[name])[~np.isin(kept.indices, one.samples)]
    return bool(len(others)) and float(np.nanmin(others)) <= one.value <= float(np.nanmax(others))


def _columns(split: Split, target: bool) -> Iterator[tuple[str, int, NDArray[np.int64], Floats]]:
    """(input, place, samples, values) of suspicious columns; place -1 where an input was judged and none is."""
    labels = split.sketch.target.labels
    if target and labels is not None and not split.sketch.target.names and len(labels) >= FEWEST:
        yield TARGET, 0, split.sketch.target.samples, np.asarray(labels, dtype=np.float64)
    for name, values in split.sketch.kept.inputs.items():
        sketch, quartiles = split.sketch.inputs[name], split.quartiles(name)
        if quartiles is None or sketch.moments is None or len(values) < FEWEST or split.pixel_like:
            continue
        if len(sketch.shape) != 1 or (split.source.fed and "int" in sketch.type):
            continue
        yield name, -1, np.zeros(0, dtype=np.int64), np.zeros(0)
        low, median, high = quartiles
        reach = np.maximum(sketch.moments.high - median, median - sketch.moments.low)
        places = np.flatnonzero((high > low) & (reach > SUSPICIOUS * (high - low)))[:MOST_COLUMNS]
        if len(places):
            indices, columns = _whole(split, name, places)
            for place, column in zip(places.tolist(), columns.T, strict=True):
                yield name, place, indices, column


def _whole(split: Split, name: str, places: Array) -> tuple[NDArray[np.int64], Floats]:
    kept = split.sketch.kept
    if len(kept.indices) == split.size:
        return kept.indices, _rows(kept.inputs[name])[:, places]
    parts = [(chunk.indices, _rows(chunk.inputs[name])[:, places]) for chunk in split.source.read()]
    return np.concatenate([indices for indices, _ in parts]), np.concatenate([rows for _, rows in parts])


def _rows(values: Array | list[Array]) -> Floats:
    return np.asarray(values, dtype=np.float64).reshape(len(values), -1)


def _strange(values: Floats, indices: NDArray[np.int64], limit: float) -> Strange | None:
    """The first kind that fits, the most certain first."""
    good = np.isfinite(values)
    values, indices = values[good], indices[good]
    if len(values) < FEWEST:
        return None
    low, median, high = np.percentile(values, [25, 50, 75])
    if not high > low:
        return None
    for kind, hit in (
        ("marker", _marker(values)),
        ("unit", _other_unit(values, median, high - low)),
        ("unit", _known_factor(values)),
        ("negative", _lost_sign(values, high - low)),
        ("far", np.abs(values - median) > limit * (high - low)),
    ):
        most = {"marker": MOST_MARKED, "unit": MOST_CONVERTED}.get(kind, MOST_SHARE)
        if 0 < hit.sum() <= max(2, most * len(values)):
            away = np.abs(values[hit] - median) / (high - low)
            worst = np.argsort(-away, kind="stable")
            rest = values[~hit]
            return Strange(
                kind=kind,
                name="",
                place=0,
                samples=indices[hit][worst].tolist(),
                value=float(values[hit][worst[0]]),
                usual=(float(rest.min()), float(rest.max())),
                distance=float(away[worst[0]]),
            )
    return None


def _marker(values: Floats) -> NDArray[np.bool_]:
    """The lowest or highest value, where it occurs several times or is made of nines, far from all others."""
    nothing = np.zeros(len(values), dtype=bool)
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) < FEWEST_VALUES:
        return nothing  # codes of a few answers, of which 99 may be one
    for place, rest in ((0, distinct[1:]), (-1, distinct[:-1])):
        value, count = float(distinct[place]), int(counts[place])
        gap = float(rest[0] - value) if place == 0 else float(value - rest[-1])
        nines = len(digits := str(abs(int(value)))) >= 2 and set(digits) == {"9"} and value == int(value)
        minus = value == -1 and rest[0] >= 0  # among ages and counts
        lonely = gap > APART * float(np.ptp(rest)) or (nines and gap > float(np.ptp(rest)))
        lonely |= minus and rest[0] > 0 and gap > 5 * float(np.median(np.diff(rest)))
        repeated = count >= 3 and count > 2 * counts[1:-1].mean()
        if value != 0 and lonely and (nines or repeated):
            return np.asarray(values == value)
    return nothing


def _other_unit(values: Floats, median: float, spread: float) -> NDArray[np.bool_]:
    """A few values beyond a gap that is wider than the range of all others, in numbers and in powers of ten."""
    order = np.argsort(np.abs(values - median), kind="stable")
    ranked = values[order]
    away = np.abs(ranked - median)
    ranges = np.maximum(np.maximum.accumulate(ranked) - np.minimum.accumulate(ranked), spread)
    border = len(values) - max(2, int(MOST_SHARE * len(values)))
    wide = np.flatnonzero(np.diff(away) > APART * ranges[:-1])
    hit = np.zeros(len(values), dtype=bool)
    if not (wide >= border - 1).any():
        return hit
    first = int(wide[wide >= border - 1][0]) + 1
    usual, others, gap = ranked[:first], ranked[first:], away[first] - away[first - 1]
    if usual.min() > 0 and others.min() > 0:  # of a long tail, the range in powers of ten tells how far it may reach
        tail, jump = np.log(usual.max() / max(median, 1e-300)), np.log(others.min() / usual.max())
        if jump < max(tail, np.log(5)):
            return hit
    elif gap <= 3 * APART * ranges[first - 1]:
        return hit
    hit[order[first:]] = True
    return hit


def _known_factor(values: Floats) -> NDArray[np.bool_]:
    """A small group beyond a wide gap which, times a factor between two units, lies just where all others lie."""
    nothing = np.zeros(len(values), dtype=bool)
    ranked = np.sort(values)
    few = int(MOST_CONVERTED * len(values))
    if ranked[0] <= 0 or few < FEWEST_CONVERTED or len(np.unique(values)) < 2 * FEWEST_VALUES:
        return nothing
    steps = np.diff(ranked)
    for places in (range(FEWEST_CONVERTED - 1, few), range(len(steps) - few, len(steps) - FEWEST_CONVERTED + 1)):
        place = max(places, key=lambda at: steps[at])
        below, above = ranked[: place + 1], ranked[place + 1 :]
        group, usual = (below, above) if len(below) < len(above) else (above, below)
        if steps[place] > max(float(np.ptp(usual)), 10 * float(np.diff(usual).max())) and _converts(group, usual):
            return np.asarray(values <= group[-1] if group is below else values >= group[0])
    return nothing


def _converts(group: Floats, usual: Floats) -> bool:
    """Whether one of the factors brings the whole group among the others, and to their middle."""
    low, middle, high = np.percentile(usual, [10, 50, 90])
    ratio = float(middle / np.median(group))
    factor = min(FACTORS, key=lambda known: abs(np.log(known / ratio)))
    moved = group * factor
    inside = bool(moved[0] >= usual[0] - (middle - usual[0]) / 4 and moved[-1] <= usual[-1] + (usual[-1] - middle) / 4)
    return inside and bool(low <= np.median(moved) <= high)


def _lost_sign(values: Floats, spread: float) -> NDArray[np.bool_]:
    """A few negative values in a column of positive ones, beyond a gap, that would be ordinary with the other sign."""
    negative = values < 0
    usual = np.sort(values[~negative])
    nothing = np.zeros(len(values), dtype=bool)
    if not 0 < negative.sum() <= max(2, MOST_SHARE * len(values)) or usual[0] <= 0:
        return nothing
    gap = float(usual[0] - values[negative].max())
    steps = float(np.diff(usual[: len(usual) // 2]).max())
    ordinary = bool((-values[negative] >= usual[0]).all() and (-values[negative] <= usual[-1]).all())
    return negative if ordinary and gap > 5 * steps and gap > spread else nothing
