"""Columns that give the target away: a copy, a code of the class, a function of it, or one that only a class has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.audit.chunk import Array, Values
from paramedic.audit.sketches.moments import Floats

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit, Split

FEWEST_VALUES = 20  # different ones, of a number to be predicted
FEWEST_PER_CLASS = 10
FILLED = 0.8  # of a class has a value in a column that no other class ever has
MOST_COLUMNS = 100  # of a table; among thousands of measurements, one may mark a class


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """A column that gives the target away."""

    name: str  # of the input
    place: int | None  # of its column; None where the input is a single one
    how: str  # "is the target itself", "is a code of the class" …
    samples: int
    certain: bool = True


def copies(audit: Audit, fewest: int, out_of_order: float) -> list[Copy] | None:
    """None where there are fewer samples, targets are not one value per sample, or inputs are no columns; rounding may
    exchange `out_of_order` of the neighbours."""
    split, found = audit.train, audit.train.features
    kept = split.sketch.kept
    if found.labels is None or len(found.labels) < fewest or split.pixel_like:
        return None
    columns = list(_columns(split))
    if len(columns) < 2 or audit.task.kind not in ("classification", "regression"):
        return None  # of one column alone, the target may well be a plain function

    def judge(values: Array, labels: Array) -> str | None:
        if audit.task.kind == "classification":
            return _as_class(values, labels, fewest)
        return _as_number(values, labels, fewest, out_of_order)

    given = [
        Copy(name=name, place=place, how=how, samples=len(kept.indices))
        for name, place, values in columns
        if (how := judge(values, found.labels)) is not None
    ] + [*_telling_ids(split, fewest)]
    if given or audit.task.kind != "classification" or len(columns) > MOST_COLUMNS:
        return given
    return [
        Copy(name=name, place=place, how=how, samples=len(kept.indices), certain=False)
        for name, place, values in columns
        if place is not None and split.source.features.get(name)
        if (how := _filled_for_one(split, values, found.labels, fewest)) is not None
    ]


def _filled_for_one(split: Split, column: Array, labels: Array, fewest: int) -> str | None:
    """One value, or none, for all samples of the other classes, and for few of this one: known only afterwards."""
    numbers = column.astype(np.float64)
    values, counts = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
    usual = float(values[counts.argmax()]) if len(values) and np.isnan(numbers).sum() < counts.max() else np.nan
    filled = ~np.isnan(numbers) if np.isnan(usual) else numbers != usual
    classes = np.unique(labels[filled])
    if len(classes) != 1 or len(np.unique(numbers[filled])) < FEWEST_VALUES:
        return None
    own = labels == classes[0]
    if filled.sum() < fewest or (~own).sum() < fewest or filled.sum() < FILLED * own.sum():
        return None
    shown, of = "empty" if np.isnan(usual) else f"{usual:g}", split.sketch.target.shown(classes[0])
    return f"is {shown} for all classes but {of}, and something else for {filled.sum() / own.sum():.0%} of that one"


def _telling_ids(split: Split, fewest: int) -> Iterator[Copy]:
    """Numbers of the rows that say the class: sorted by them, the classes are sorted too, and the file is not."""
    labels, samples = split.sketch.target.labels, split.sketch.target.samples
    for name, parts in split.sketch.numbering.items():
        ids = np.concatenate(parts)
        if labels is None or len(ids) != len(labels) or len(labels) < fewest or labels.dtype.kind == "f":
            continue
        classes, counts = np.unique(labels, return_counts=True)
        if not 2 <= len(classes) <= len(labels) / FEWEST_PER_CLASS or counts.min() < FEWEST_PER_CLASS:
            continue
        runs = _changes(labels[np.argsort(ids, kind="stable")])
        if runs < 2 * len(classes) and _changes(labels[np.argsort(samples)]) > len(labels) / 10:
            how = "tells the class: sorted by it, all samples of a class stand together, unlike in the file"
            yield Copy(name=name, place=None, how=how, samples=len(ids))


def _changes(labels: Array) -> int:
    return int((labels[1:] != labels[:-1]).sum())


def _columns(split: Split) -> Iterator[tuple[str, int | None, Array]]:
    kept = split.sketch.kept
    for name, values in kept.inputs.items():
        if len(values) != len(kept.indices):
            continue
        if isinstance(values, list):
            if all(isinstance(value, str) for value in values) and not split.input(name).is_text:
                yield name, None, np.unique(np.asarray(values), return_inverse=True)[1]
        elif values.dtype.kind in "biuf" and values.ndim <= 2:
            rows = _rows(values)
            for place in range(rows.shape[1]):
                yield name, place, rows[:, place]


def _rows(values: Values) -> Array:
    return np.asarray(values).reshape(len(values), -1)


def _as_class(column: Array, labels: Array, fewest: int) -> str | None:
    """Each class has one value of the column, and each value one class."""
    known = ~np.isnan(column) if column.dtype.kind == "f" else np.ones(len(column), dtype=bool)
    if known.sum() < max(fewest, 0.9 * len(column)):
        return None
    column, labels = column[known], labels[known]
    values, classes = np.unique(column), np.unique(labels)
    if len(values) != len(classes) or len(classes) < 2 or len(classes) > len(labels) / 2:
        return None
    pairs = np.unique(np.stack([np.searchsorted(values, column), np.searchsorted(classes, labels)]), axis=1)
    if pairs.shape[1] != len(classes):
        return None
    same = column.dtype.kind == labels.dtype.kind and bool((column == labels).all())
    return "is the target itself" if same else "has one value for each class: it is the target in other words"


def _as_number(column: Array, labels: Array, fewest: int, out_of_order: float) -> str | None:
    """Sorted by the column, the targets are sorted as well."""
    known = np.isfinite(column.astype(np.float64)) & np.isfinite(labels.astype(np.float64))
    if known.sum() < max(fewest, 0.9 * len(column)):
        return None
    values: Floats = column[known].astype(np.float64)
    targets: Floats = labels[known].astype(np.float64)
    distinct = len(np.unique(targets))
    if distinct < FEWEST_VALUES or len(np.unique(values)) < 0.5 * distinct:
        return None
    if bool(np.isclose(values, targets, rtol=1e-6, atol=0).all()):
        return "is the target itself"
    for sign, rises in ((1, "rises"), (-1, "falls")):
        order = np.lexsort((sign * targets, values))  # where rounding made values equal, any order is right
        if float(np.mean(np.diff(sign * targets[order]) < 0)) <= out_of_order:
            return f"{rises} with the target without exception: it is a function of it"
    return None
