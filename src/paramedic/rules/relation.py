"""Are the labels related to the inputs at all? Simple models answer for the samples that a run has kept.

Kernel ridge regression has its leave-one-out predictions in closed form, for the real labels and for as many shuffled
ones as are needed to know what chance gives. It takes a few tenths of a second and is asked only about runs that learnt
nothing.
"""

from __future__ import annotations

import base64
import functools
from typing import TYPE_CHECKING

from paramedic.frozen import dataclass
from paramedic.record.facts import LabelledSamples
from paramedic.record.reader import Run

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

FEWEST = 200  # samples, all different
SHUFFLES = 200
WIDTHS = (0.5, 1.0)  # of Gaussian kernels, in units of the median distance; besides these a linear one
RIDGE = 0.1  # relative to the kernel's diagonal
MOST_CLASSES = 50
BY_CHANCE = 0.05  # p-value above which nothing is found


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """What the best of the simple models makes of the samples, each predicted from all others."""

    samples: int
    classes: int  # 0: quantities
    right: float  # share of the classes, or the correlation with the quantities
    guess: float  # what always answering the most frequent class gives, or 0
    p_value: float  # share of shuffled labels that are predicted as well
    structure: float  # how much the features depend on each other; 1 is pure noise

    tokens: bool  # the inputs are ids, whose order the simple models do not see

    @property
    def found(self) -> bool:
        return self.p_value <= BY_CHANCE

    def __str__(self) -> str:
        """What the simple models reach."""
        if self.classes:
            reached = f"gets {self.right:.0%} of {self.samples} samples right; guessing, {self.guess:.0%}"
        else:
            reached = f"predicts {self.samples} samples with a correlation of {self.right:.2f}"
        return f"kernel ridge regression {reached}"


def relation(run: Run) -> Relation | None:
    """None where there are too few different samples, or labels."""
    samples = run.first(LabelledSamples)
    if samples is None:
        return None
    return _relation(samples.features, tuple(samples.labels), samples.width, samples.classes, samples.tokens)


@functools.lru_cache(maxsize=4)  # a rule and the verdict ask the same
def _relation(packed: str, known: tuple[float, ...], width: int, classes: bool, tokens: bool) -> Relation | None:
    import numpy as np

    raw = np.frombuffer(base64.b64decode(packed), np.float16).astype(np.float64)
    features, labels = raw.reshape(len(known), width), np.asarray(known)
    _, first = np.unique(features, axis=0, return_index=True)
    features, labels = features[np.sort(first)], labels[np.sort(first)]
    features = features[:, features.std(0) > 0]
    values = np.unique(labels)
    too_many = classes and len(values) > MOST_CLASSES
    if len(labels) < FEWEST or not features.shape[1] or len(values) < 2 or too_many:
        return None
    targets = (labels[:, None] == values).astype(float) if classes else labels[:, None]
    targets = (targets - targets.mean(0)) / max(float(targets.std()), 1e-12)
    rng = np.random.default_rng(0)
    orders = [np.arange(len(labels)), *(rng.permutation(len(labels)) for _ in range(SHUFFLES))]
    best = np.full(len(orders), -np.inf)
    right = 0.0
    for kernel in _kernels(features):
        smoother = np.linalg.solve(kernel + RIDGE * np.trace(kernel) / len(kernel) * np.eye(len(kernel)), kernel).T
        scores = np.array([_score(smoother, targets[order]) for order in orders])
        if scores[0] > best[0]:
            right = _right(_left_out(smoother, targets), labels, values, classes=classes)
        best = np.maximum(best, scores)
    return Relation(
        samples=len(labels),
        classes=len(values) if classes else 0,
        right=right,
        guess=float(max((labels == value).mean() for value in values)) if classes else 0.0,
        p_value=float((1 + (best[1:] >= best[0]).sum()) / (1 + SHUFFLES)),
        structure=_structure(features),
        tokens=tokens,
    )


def _kernels(features: Array) -> list[Array]:
    import numpy as np

    products = features @ features.T
    squares = np.diag(products)
    apart = np.maximum(squares[:, None] + squares[None, :] - 2 * products, 0)
    middle = float(np.median(apart)) or 1.0
    return [products / features.shape[1] + 1, *(np.exp(-apart / (middle * width)) for width in WIDTHS)]


def _left_out(smoother: Array, targets: Array) -> Array:
    """The prediction for each sample by a model that has seen all others."""
    import numpy as np

    own = np.diag(smoother)[:, None]
    predicted: Array = (smoother @ targets - own * targets) / np.maximum(1 - own, 1e-6)
    return predicted


def _score(smoother: Array, targets: Array) -> float:
    """How far predictions and targets go together; a scale that is off does not matter."""
    import numpy as np

    predicted = _left_out(smoother, targets)
    size = float(np.linalg.norm(predicted) * np.linalg.norm(targets))
    return float((predicted * targets).sum()) / size if size > 0 else 0.0


def _right(predicted: Array, labels: Array, values: Array, *, classes: bool) -> float:
    import numpy as np

    if classes:
        return float((values[predicted.argmax(1)] == labels).mean())
    return float(np.corrcoef(predicted[:, 0], labels)[0, 1]) if predicted.std() > 0 else 0.0


def _structure(features: Array) -> float:
    """The largest common direction of the features, relative to what pure noise would have."""
    import numpy as np

    if features.shape[1] < 2:
        return 0.0
    scaled = (features - features.mean(0)) / features.std(0)
    largest = float(np.linalg.eigvalsh(np.cov(scaled, rowvar=False))[-1])
    return largest / float((1 + np.sqrt(features.shape[1] / len(features))) ** 2)
