"""Classes of pictures that no single pixel tells: the same shapes anywhere in the picture, seen in their spectrum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array
from paramedic.audit.models.signal import FEWEST_PER_CLASS, TREES, agreement
from paramedic.audit.sketches.pictures import are_images, shrunk, to_grey

if TYPE_CHECKING:
    from paramedic.audit.audit import Split

SIDE = 32
SURE = 1e-3


def told_by_spectrum(split: Split) -> bool:
    """Whether a forest tells the classes by how strong each spatial frequency is, which moving a thing leaves alone."""
    from sklearn.ensemble import RandomForestClassifier

    labels = split.features.labels
    pictures = next((values for values in split.sketch.kept.inputs.values() if are_images(values)), None)
    if labels is None or pictures is None or len(pictures) != len(labels):
        return False
    classes, counts = np.unique(labels, return_counts=True)
    rows = np.flatnonzero(np.isin(labels, classes[counts >= FEWEST_PER_CLASS]))
    if len(np.unique(labels[rows])) < 2:
        return False
    forest = RandomForestClassifier(TREES, oob_score=True, n_jobs=-1, random_state=0)
    forest.fit(_strengths(pictures)[rows], labels[rows])
    guessed = np.nan_to_num(np.asarray(forest.oob_decision_function_)).argmax(axis=1)
    return agreement(forest.classes_[guessed], labels[rows]) < SURE


def _strengths(pictures: Array | list[Array]) -> NDArray[np.float32]:
    """One row for each picture; large ones are made smaller first."""
    parts = [to_grey(picture[None]) for picture in pictures] if isinstance(pictures, list) else [to_grey(pictures)]
    rows = []
    for grey in parts:
        height, width = (SIDE, SIDE) if len(parts) > 1 else (min(SIDE, side) for side in grey.shape[1:])
        small = shrunk(grey, height, width)
        even = small - small.mean(axis=(1, 2), keepdims=True)
        rows.append(np.log1p(np.abs(np.fft.rfft2(even))).reshape(len(even), -1))
    return np.concatenate(rows).astype(np.float32)
