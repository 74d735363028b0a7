"""Confident learning: labels that out-of-sample probabilities contradict, ranked (Northcutt, Jiang and Chuang 2021)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit


MARGIN = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubts:
    """Samples whose label is probably wrong, worst first."""

    samples: NDArray[np.int64]
    given: Array
    suggested: Array
    confidence: NDArray[np.float64]  # probability of the given label
    other: NDArray[np.float64]  # probability of the suggested one
    size: int  # samples that were judged


def thresholds(labels: Array, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Per class: how sure the model is on average of samples that carry this label."""
    counts = np.bincount(labels, minlength=probabilities.shape[1])
    sums = np.bincount(labels, weights=probabilities[np.arange(len(labels)), labels], minlength=len(counts))
    return np.asarray(np.where(counts > 0, sums / np.maximum(counts, 1), np.inf))


def off_diagonal(labels: Array, probabilities: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Samples that are confidently of another class than their label says: off the diagonal of the confident joint."""
    confident = probabilities >= thresholds(labels, probabilities) - 1e-6
    best = np.where(confident, probabilities, -1.0).argmax(axis=1)
    return np.asarray(confident.any(axis=1) & (best != labels))


def self_confidence(labels: Array, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability of the given label: low for doubtful ones."""
    return np.asarray(probabilities[np.arange(len(labels)), labels])


def doubts(audit: Audit) -> Doubts | None:
    """The ranking for the training split; None where no classifier could be fitted."""
    signal, found = audit.signal, audit.train.features
    if signal is None or signal.probabilities is None or signal.classes is None or found.labels is None:
        return None
    labels = np.searchsorted(signal.classes, found.labels[signal.rows])
    score = self_confidence(labels, signal.probabilities)
    # A forest is seldom as sure of a sample as confident learning asks for: a clear margin counts as well.
    clear = signal.probabilities.max(axis=1) - score > MARGIN
    flagged = np.flatnonzero(off_diagonal(labels, signal.probabilities) | clear)
    worst = flagged[np.argsort(score[flagged], kind="stable")]
    best = signal.probabilities.argmax(axis=1)
    return Doubts(
        samples=found.indices[signal.rows[worst]],
        given=signal.classes[labels[worst]],
        suggested=signal.classes[best[worst]],
        confidence=score[worst],
        other=signal.probabilities.max(axis=1)[worst],
        size=len(labels),
    )
