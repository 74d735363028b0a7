"""Are columns of val in another unit? Then a known factor brings them where train has them, and a forest that was
fitted on train predicts the targets of val only after that. Of smaller or larger things, it would do so before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array
from paramedic.audit.models.outliers import FACTORS

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit, Split

FEWEST, MOST = 60, 5_000  # samples of each part
NEAR = 0.05  # powers of e between a ratio of medians and a known factor
AS_WIDE = 0.35  # between that and the ratio of the interquartile ranges
LEARNT = 0.7  # of the error of guessing, that a forest must get below
WORSE = 2.0  # times the error, without the factor
AS_GOOD = 1.5  # times the error on samples of train that the forest has not seen

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """Columns of val in another unit, and what makes them those of train."""

    places: list[int]
    factor: float  # of the first of them
    before: float  # errors of a forest on val, as shares of the error of guessing
    after: float


def converted(audit: Audit, name: str, places: Sequence[int]) -> Converted | None:
    """Among these columns of an input, which differ; None where no factor explains it, or no target confirms it."""
    if audit.val is None or audit.task.kind not in ("classification", "regression"):
        return None
    train, val = _rows(audit.train, name), _rows(audit.val, name)
    if train is None or val is None or train.shape[1] != val.shape[1] or min(len(train), len(val)) < FEWEST:
        return None
    factors = {place: f for place in places if (f := _factor(train[:, place], val[:, place])) is not None}
    ours, theirs = _targets(audit.train), _targets(audit.val)
    if not factors or ours is None or theirs is None:
        return None
    moved = val.copy()
    for place, factor in factors.items():
        moved[:, place] *= factor
    errors = _errors(train, ours, [val, moved], theirs, whole=audit.task.kind == "regression")
    unseen, before, after = errors
    if unseen > LEARNT or before < WORSE * after or after > max(AS_GOOD * unseen, unseen + 0.05):
        return None
    found = sorted(factors)
    return Converted(places=found, factor=factors[found[0]], before=before, after=after)


def _factor(ours: Floats, theirs: Floats) -> float | None:
    """The known factor that brings their values to ours: their middle, and how far they spread."""
    (a, b, c), (d, e, f) = (np.nanpercentile(values, [25, 50, 75]) for values in (ours, theirs))
    if min(a, d) <= 0 or not (c > a and f > d):
        return None
    ratio, spread = float(np.log(b / e)), float(np.log((c - a) / (f - d)))
    factor = min(FACTORS, key=lambda known: abs(np.log(known) - ratio))
    return factor if abs(np.log(factor) - ratio) < NEAR and abs(spread - ratio) < AS_WIDE else None


def _errors(train: Floats, ours: Array, parts: list[Floats], theirs: Array, *, whole: bool) -> list[float]:
    """Of a forest, as shares of the error of guessing: on unseen samples of train, and on each of these parts."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    means = np.nan_to_num(np.nanmean(train, axis=0))
    filled = [np.where(np.isfinite(rows), rows, means).astype(np.float32) for rows in (train, *parts)]
    kind = RandomForestRegressor if whole else RandomForestClassifier
    half = np.random.default_rng(0).permutation(len(train)) % 2 == 0
    forest = kind(60, min_samples_leaf=3, random_state=0).fit(filled[0][half], ours[half])
    judged = [(filled[0][~half], ours[~half]), *((rows, theirs) for rows in filled[1:])]
    if whole:
        middle = np.median(ours[half])
        return [
            float(np.mean(np.abs(forest.predict(x) - y)) / max(np.mean(np.abs(y - middle)), 1e-12)) for x, y in judged
        ]
    names, counts = np.unique(ours[half], return_counts=True)
    usual = names[counts.argmax()]
    return [float(np.mean(forest.predict(x) != y) / max(np.mean(y != usual), 1e-12)) for x, y in judged]


def _rows(split: Split, name: str) -> Floats | None:
    values = split.sketch.kept.inputs.get(name)
    if values is None or isinstance(values, list) or values.dtype.kind not in "biuf" or values.ndim != 2:
        return None
    rows = np.asarray(values[:MOST], dtype=np.float64)
    return np.where(np.isfinite(rows), rows, np.nan)


def _targets(split: Split) -> Array | None:
    labels = split.features.labels
    if labels is None or (labels.dtype.kind == "f" and not np.isfinite(labels).all()):
        return None
    names = list(split.sketch.target.names)
    return np.asarray([names[int(code)] for code in labels[:MOST]]) if names else labels[:MOST]
