"""Labels that three different models contradict alike, each on samples it was not fitted on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array

MOST = 2_000  # samples: the time of a kernel machine grows with their square
FOLDS = 5
DIRECTIONS = 50  # of wide samples
UNLIKELY, RARE = 0.1, 0.25  # probability of the given label, by the linear model and by the forest


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """Rows whose label all models contradict with one and the same class, the most certain first."""

    rows: NDArray[np.int64]
    firm: int  # the first of them, which two models think next to impossible


def second_opinion(points: NDArray[np.float32], labels: Array, forest: NDArray[np.float64]) -> Opinion | None:
    """`forest` holds its probabilities out of bag; None where it would take too long, or classes are too small."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    if len(labels) > MOST or np.bincount(labels).min() < FOLDS:
        return None
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    linear, kernel = _models(points.shape)
    chances = np.asarray(cross_val_predict(linear, points, labels, cv=folds, method="predict_proba"))
    by_kernel = np.asarray(cross_val_predict(kernel, points, labels, cv=folds))
    said, own = forest.argmax(axis=1), np.arange(len(labels))
    agreed = (said != labels) & (said == by_kernel) & (said == chances.argmax(axis=1))
    firm = agreed & (chances[own, labels] < UNLIKELY) & (forest[own, labels] < RARE)
    rows = np.flatnonzero(agreed)
    doubt = chances[rows, labels[rows]] + forest[rows, labels[rows]]
    order = np.lexsort((doubt, ~firm[rows]))
    return Opinion(rows=rows[order], firm=int(firm.sum()))


def _models(shape: tuple[int, ...]) -> tuple[Any, Any]:
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC

    narrow = [PCA(min(DIRECTIONS, shape[0] // 2), random_state=0)] if shape[1] > DIRECTIONS else []
    return make_pipeline(*narrow, LogisticRegression(max_iter=500)), make_pipeline(*narrow, SVC())
