"""Labels that are probably wrong, ranked: by the user's own training run where there was one, else by a forest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array
from paramedic.audit.sketches.pictures import is_image_shape

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit
    from paramedic.audit.models.signal import Signal

MARGIN = 0.3
FIRM = 0.1  # probability of the given label below which it is contradicted firmly
OF_ERRORS = (
    0.3  # of a forest's errors, firm ones: 0.31 and more with wrong labels, 0.28 and less in overlapping classes
)
# The same, of errors that three models agree on. Wine, breast cancer and digits: 0.18 and less as they are, 0.27 and
# more with 3 to 5 % of the labels flipped; iris with flips: 0.17, 0.31 and 0.46, so some are missed.
OF_AGREED = 0.25
RELIABLE = 0.85  # accuracy of a forest that may doubt labels one by one
TRAINED = 1.0  # the usual lead, in logits, of a class that was learnt: before that, every hard sample is behind
OF_NEGATIVE = 0.45  # of the negative margins, firm ones: 0.51 and more with wrong labels, 0.37 and less without
MOST_NEGATIVE = 0.3  # beyond this share of negative margins the task is hard, or nothing was learnt


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubts:
    """Samples whose label is probably wrong, worst first."""

    samples: NDArray[np.int64]
    given: Array
    suggested: Sequence[object]  # labels that fit better; empty where only the doubt is known
    firm: int  # how many are contradicted firmly
    telling: bool  # whether that is more than a task which is merely hard would give
    size: int  # samples that were judged
    because: str  # of the first one


def thresholds(labels: Array, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Per class: how sure the model is on average of samples that carry this label."""
    counts = np.bincount(labels, minlength=probabilities.shape[1])
    sums = np.bincount(labels, weights=probabilities[np.arange(len(labels)), labels], minlength=len(counts))
    return np.asarray(np.where(counts > 0, sums / np.maximum(counts, 1), np.inf))


def off_diagonal(labels: Array, probabilities: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Confident learning (Northcutt, Jiang and Chuang 2021): samples that are confidently of another class."""
    confident = probabilities >= thresholds(labels, probabilities) - 1e-6
    best = np.where(confident, probabilities, -1.0).argmax(axis=1)
    return np.asarray(confident.any(axis=1) & (best != labels))


def self_confidence(labels: Array, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability of the given label: low for doubtful ones."""
    return np.asarray(probabilities[np.arange(len(labels)), labels])


def doubts(audit: Audit) -> Doubts | None:
    """The ranking for the training split; None where nobody knows the classes well enough to doubt a label."""
    found = by_margins(audit) if audit.train.source.margins is not None else None
    return found or by_forest(audit)


def by_margins(audit: Audit) -> Doubts | None:
    """Area under the margin: wrong labels are those whose own class stayed behind another one during training."""
    margins, target = audit.train.source.margins, audit.train.sketch.target
    if margins is None or target.labels is None:
        return None
    samples = target.samples[target.samples < len(margins)]
    labels = target.labels[target.samples < len(margins)]
    lead = margins[samples]
    judged = np.isfinite(lead)
    usual = float(np.median(lead[judged])) if judged.any() else 0.0
    negative = judged & (lead < 0)
    if usual < TRAINED or negative.sum() > MOST_NEGATIVE * judged.sum():
        return None
    worst = np.flatnonzero(negative)[np.argsort(lead[negative], kind="stable")]
    confidence = _confidence(audit, samples[worst])
    kept = confidence < 0.5  # the others have a label that a good model, which has not seen them, gives them as well
    worst, confidence = worst[kept], confidence[kept]
    first = f"another class was ahead by {-lead[worst[0]]:.1f} on average over your training" if len(worst) else ""
    firm = int(((lead[worst] < -0.5 * usual) & (confidence < FIRM)).sum())
    return Doubts(
        samples=samples[worst],
        given=labels[worst],
        suggested=(),
        firm=firm,
        telling=firm > OF_NEGATIVE * len(worst),
        size=int(judged.sum()),
        because=first,
    )


def _confidence(audit: Audit, samples: NDArray[np.int64]) -> NDArray[np.float64]:
    """How probable a forest that has not seen these samples finds their labels; 0 where it is no judge of labels.

    A network that was trained for a short time is behind on every hard sample, whatever its label.
    """
    signal, found = audit.signal, audit.train.features
    none = np.zeros(len(samples))
    if signal is None or signal.probabilities is None or signal.classes is None or found.labels is None:
        return none
    if signal.score < RELIABLE:
        return none
    labels = np.searchsorted(signal.classes, found.labels[signal.rows])
    known = dict(zip(found.indices[signal.rows].tolist(), self_confidence(labels, signal.probabilities), strict=True))
    return np.array([known.get(sample, 0.0) for sample in samples.tolist()])


def by_forest(audit: Audit) -> Doubts | None:
    signal, found = audit.signal, audit.train.features
    if signal is None or signal.probabilities is None or signal.classes is None or found.labels is None:
        return None
    if signal.score < signal.guess + 0.5 * (1 - signal.guess) or signal.p_value > 1e-6:
        return None
    signal = _with_content(audit, signal)
    assert signal.probabilities is not None and signal.classes is not None
    labels = np.searchsorted(signal.classes, found.labels[signal.rows])
    score, best = self_confidence(labels, signal.probabilities), signal.probabilities.max(axis=1)
    # A forest is seldom as sure of a sample as confident learning asks for: a clear margin counts as well.
    flagged = np.flatnonzero(off_diagonal(labels, signal.probabilities) | (best - score > MARGIN))
    worst = flagged[np.argsort(score[flagged], kind="stable")]
    suggested = [
        audit.train.sketch.target.shown(signal.classes[i].item()) for i in signal.probabilities[worst].argmax(axis=1)
    ]
    sure = (score[worst] < FIRM) & (best[worst] > 0.5)
    firm = int(sure.sum())
    telling = firm > OF_ERRORS * (1 - signal.score) * len(labels)
    if not telling and signal.score >= RELIABLE and len(worst):
        agreed = _agreed(audit, signal, labels)
        if agreed is not None:
            return agreed
    if signal.score < RELIABLE:  # most of its doubts are its own mistakes: only the firm ones are worth a look
        if not telling:
            return None
        worst, suggested = worst[sure], [label for label, kept in zip(suggested, sure, strict=True) if kept]
    first = f"it looks like {suggested[0]} ({best[worst[0]]:.0%} against {score[worst[0]]:.0%})" if suggested else ""
    return Doubts(
        samples=found.indices[signal.rows[worst]],
        given=signal.classes[labels[worst]],
        suggested=suggested,
        firm=firm,
        telling=telling,
        size=len(labels),
        because=first,
    )


def _with_content(audit: Audit, signal: Signal) -> Signal:
    """Without blank pictures: they look like no class, whatever their label is, and PM303 names them."""
    sketches = audit.train.sketch.inputs.values()
    blank = [index for sketch in sketches if is_image_shape(sketch.shape) for index in sketch.blank]
    kept = ~np.isin(audit.train.features.indices[signal.rows], blank)
    if signal.probabilities is None or kept.all():
        return signal
    return replace(signal, rows=signal.rows[kept], probabilities=signal.probabilities[kept])


def _agreed(audit: Audit, signal: Signal, labels: Array) -> Doubts | None:
    """What three models say alike, where that is more than their own mistakes would give: for sets of few samples."""
    from paramedic.audit.models.second_opinion import second_opinion

    assert signal.probabilities is not None and signal.classes is not None
    found = audit.train.features
    opinion = second_opinion(found.scaled[signal.rows], labels, signal.probabilities)
    if opinion is None or opinion.firm < OF_AGREED * (1 - signal.score) * len(labels) or not opinion.firm:
        return None
    best = signal.probabilities[opinion.rows].argmax(axis=1)
    suggested = [audit.train.sketch.target.shown(signal.classes[i].item()) for i in best]
    return Doubts(
        samples=found.indices[signal.rows[opinion.rows]],
        given=signal.classes[labels[opinion.rows]],
        suggested=suggested,
        firm=opinion.firm,
        telling=True,
        size=len(labels),
        because=f"a forest, a linear model and a kernel SVM that have not seen it all say {suggested[0]}",
    )
