"""Is there anything to learn? Out-of-bag forest and nearest neighbour, against what guessing would reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array
from paramedic.audit.task import Task

if TYPE_CHECKING:
    from paramedic.audit.audit import Split

FEWEST = 40
FEWEST_PER_CLASS = 5
MOST_CLASSES = 200
TREES, FEW_SAMPLES = 100, 1000  # three times as many trees for few samples, whose votes are few as well
UNEVEN = 0.8  # of the samples in one class: a forest then hardly ever answers with another one
MACHINE = 1500  # samples for the kernel SVM, whose time grows with their square


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """What simple models reach on samples they were not fitted on."""

    task: str
    size: int
    score: float  # accuracy of the forest, or its correlation with the target
    guess: float  # accuracy of always giving the most frequent class
    neighbour: float  # accuracy of the nearest neighbour; correlation with its target
    p_value: float  # that labels which have nothing to do with the inputs would give this
    classes: NDArray[Any] | None  # those that took part
    rows: NDArray[np.int64]  # of the features, that took part
    probabilities: NDArray[np.float64] | None  # out of bag, rows by classes
    predicted: Array
    machine: float | None = None  # accuracy of a kernel SVM in cross-validation
    half: float | None = None  # accuracy of the forest with half of the samples


def measure(split: Split, task: Task) -> Signal | None:
    """None where there are too few samples, or no single target per sample."""
    found = split.features
    if found.labels is None or not found.matrix.shape[1]:
        return None
    if task.kind == "classification":
        return _classes(found.matrix, found.scaled, found.labels)
    if task.kind == "regression":
        return _numbers(found.matrix, found.scaled, found.labels)
    return None


def agreement(predicted: Array, labels: Array) -> float:
    """The chance that independent labels agree with the predictions this often, whatever the shares of the classes."""
    from scipy.stats import binom

    values = np.union1d(predicted, labels)
    by_chance = sum(float(np.mean(predicted == v)) * float(np.mean(labels == v)) for v in values)
    hits = int((predicted == labels).sum())
    return float(binom.sf(hits - 1, len(labels), min(max(by_chance, 1e-9), 1 - 1e-9)))


def correlation(predicted: Array, labels: Array) -> tuple[float, float]:
    """Rank correlation, and the chance of one at least as large without any relation."""
    from scipy.stats import spearmanr

    if np.ptp(predicted) == 0 or np.ptp(labels) == 0:
        return 0.0, 1.0
    found: Any = spearmanr(predicted, labels, alternative="greater")
    return float(found.statistic), float(found.pvalue)


def ranked(probabilities: NDArray[np.float64], known: Array) -> float:
    """The chance that samples of some class get a higher probability of it than others do, without any relation."""
    from scipy.stats import mannwhitneyu

    classes = probabilities.shape[1]
    chances = [
        float(mannwhitneyu(shares[known == place], shares[known != place], alternative="greater").pvalue)
        for place, shares in enumerate(probabilities.T)
    ]
    return min(1.0, min(chances) * (classes if classes > 2 else 1))


def nearest(points: NDArray[np.float32]) -> NDArray[np.int64]:
    """The row of the nearest other point of each."""
    from sklearn.neighbors import NearestNeighbors

    # Points that are equal come in any order, so the point itself may stand in either place.
    places = NearestNeighbors(n_neighbors=2).fit(points).kneighbors(points, return_distance=False)
    own = np.arange(len(points))
    return np.where(places[:, 0] == own, places[:, 1], places[:, 0])


def _classes(matrix: NDArray[np.float32], scaled: NDArray[np.float32], labels: Array) -> Signal | None:
    from sklearn.ensemble import RandomForestClassifier

    values, counts = np.unique(labels, return_counts=True)
    classes = values[counts >= FEWEST_PER_CLASS]
    rows = np.flatnonzero(np.isin(labels, classes))
    if len(rows) < FEWEST or not 2 <= len(classes) <= MOST_CLASSES:
        return None
    known = np.searchsorted(classes, labels[rows])
    forest = RandomForestClassifier(_trees(rows), oob_score=True, n_jobs=-1, random_state=0).fit(matrix[rows], known)
    probabilities = np.nan_to_num(np.asarray(forest.oob_decision_function_, dtype=np.float64), nan=1 / len(classes))
    predicted = probabilities.argmax(axis=1)
    neighbour = known[nearest(scaled[rows])]
    guess = float(np.bincount(known).max() / len(known))
    chances = [agreement(predicted, known), agreement(neighbour, known)]
    chances += [ranked(probabilities, known)] if guess > UNEVEN else []
    return Signal(
        task="classification",
        size=len(rows),
        score=float(np.mean(predicted == known)),
        guess=guess,
        neighbour=float(np.mean(neighbour == known)),
        p_value=min(1.0, len(chances) * min(chances)),
        classes=classes,
        rows=rows,
        probabilities=probabilities,
        predicted=classes[predicted],
        machine=_machine(scaled[rows], known),
        half=_half(matrix[rows], known),
    )


def _trees(rows: Array) -> int:
    return TREES if len(rows) > FEW_SAMPLES else 3 * TREES


def _machine(points: NDArray[np.float32], known: Array) -> float | None:
    """A support vector machine with a Gaussian kernel, three folds, at most MACHINE samples."""
    from sklearn.model_selection import cross_val_score
    from sklearn.svm import SVC

    some = np.random.default_rng(0).permutation(len(known))[:MACHINE]
    if np.bincount(known[some]).min() < 3:
        return None
    return float(np.mean(cross_val_score(SVC(), points[some], known[some], cv=3)))


def _half(matrix: NDArray[np.float32], known: Array) -> float | None:
    from sklearn.ensemble import RandomForestClassifier

    some = np.random.default_rng(0).permutation(len(known))[: len(known) // 2]
    if len(some) < FEWEST or len(np.unique(known[some])) < len(np.unique(known)):
        return None
    forest = RandomForestClassifier(_trees(some), oob_score=True, n_jobs=-1, random_state=0).fit(
        matrix[some], known[some]
    )
    return float(forest.oob_score_)


def _numbers(matrix: NDArray[np.float32], scaled: NDArray[np.float32], labels: Array) -> Signal | None:
    from sklearn.ensemble import RandomForestRegressor

    rows = np.flatnonzero(np.isfinite(labels.astype(np.float64)))
    if len(rows) < FEWEST:
        return None
    known = labels[rows].astype(np.float64)
    forest = RandomForestRegressor(_trees(rows), oob_score=True, n_jobs=-1, random_state=0, max_features=0.33)
    forest.fit(matrix[rows], known)
    predicted = np.asarray(forest.oob_prediction_)
    neighbour = known[nearest(scaled[rows])]
    (score, chance), (other, other_chance) = correlation(predicted, known), correlation(neighbour, known)
    return Signal(
        task="regression",
        size=len(rows),
        score=score,
        guess=0.0,
        neighbour=other,
        p_value=min(1.0, 2 * min(chance, other_chance)),
        classes=None,
        rows=rows,
        probabilities=None,
        predicted=predicted,
    )
