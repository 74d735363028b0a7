"""Proof that targets stand beside the wrong inputs: moved rows, and rows from which on nothing fits any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array
from paramedic.audit.models.signal import agreement, correlation, nearest
from paramedic.audit.sketches.pictures import is_image_shape
from paramedic.audit.task import Task

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit, Split

SHIFTS = tuple(shift for size in range(1, 6) for shift in (size, -size))
FEWEST = 300
SURE = 1e-8
SHOWN = 1e-3  # p-value of a relation in each window before the border
STRUCTURE = 0.3  # of the variation in ten directions


def moved_by(split: Split, task: Task) -> int | None:
    """The number of rows by which targets have to be moved to fit the inputs."""
    neighbours, labels = _neighbours(split)
    if labels is None or not _complete(split):
        return None
    chances = {shift: _fit(neighbours, np.roll(labels, shift), task) for shift in SHIFTS}
    best = min(chances, key=lambda shift: chances[shift])
    return best if chances[best] < SURE else None


def broken_from(split: Split, task: Task) -> int | None:
    """The sample behind which inputs and targets have nothing to do with each other, if there is one."""
    neighbours, labels = _neighbours(split)
    if labels is None or len(labels) < 2 * FEWEST:
        return None
    if task.kind == "classification" and len(np.unique(labels)) < 3:
        return None  # two classes are guessed too often to see a border
    hits = (
        (labels[neighbours] == labels).astype(float)
        if task.kind == "classification"
        else _closeness(labels, neighbours)
    )
    tail = max(100, len(labels) // 10)
    places = np.arange(tail, len(labels) - tail, max(1, len(labels) // 50))
    gaps = [hits[:place].mean() - hits[place:].mean() for place in places]
    place = int(places[int(np.argmax(gaps))])
    behind = np.arange(place, len(labels))
    inside = _among(split, behind)
    if _fit(inside, labels[behind], task) < 0.05:
        return None
    if _fit(_among(split, np.arange(place)), labels[:place], task) >= SURE:
        return None
    # So few rows may show no relation even where there is one: as many before the border must show it, wherever taken.
    size = min(len(behind), place)
    windows = [np.arange(start, start + size) for start in np.linspace(0, place - size, 5).astype(int)]
    shown = all(_fit(_among(split, rows), labels[rows], task) < SHOWN for rows in windows)
    return int(split.features.indices[place]) if shown else None


def should_be_learnable(audit: Audit) -> bool:
    """Pictures of three or more classes, in a number that would show any relation."""
    signal = audit.signal
    if signal is None or signal.classes is None or len(signal.classes) < 3 or signal.size < FEWEST:
        return False
    shapes = [sketch.shape for sketch in audit.train.sketch.inputs.values()]
    pictures = audit.train.pixel_like or any(is_image_shape(shape) for shape in shapes)
    return pictures and _structured(audit.train.features.scaled)


def _structured(rows: NDArray[np.float32]) -> bool:
    """Whether a few directions hold much of the variation, as in pictures of things; noise has none."""
    some = rows[:1000] - rows[:1000].mean(axis=0)
    strengths = np.linalg.svd(some, compute_uv=False) ** 2
    return float(strengths[:10].sum()) > STRUCTURE * float(strengths.sum())


def _neighbours(split: Split) -> tuple[NDArray[np.int64], Array | None]:
    found = split.features
    if found.labels is None or len(found.labels) < FEWEST:
        return np.zeros(0, dtype=np.int64), None
    return nearest(found.scaled), found.labels


def _among(split: Split, rows: Array) -> NDArray[np.int64]:
    return nearest(split.features.scaled[rows])


def _complete(split: Split) -> bool:
    """Rows can only be moved where none is left out between them."""
    return len(split.sketch.kept.indices) == split.size


def _fit(neighbours: NDArray[np.int64], labels: Array, task: Task) -> float:
    """The p-value of the agreement of neighbours."""
    if task.kind == "classification":
        return agreement(labels[neighbours], labels)
    return correlation(labels[neighbours], labels)[1]


def _closeness(labels: Array, neighbours: NDArray[np.int64]) -> NDArray[np.float64]:
    numbers = np.asarray(labels, dtype=np.float64)
    spread = float(numbers.std()) or 1.0
    return np.asarray(-np.abs(numbers[neighbours] - numbers) / spread)
