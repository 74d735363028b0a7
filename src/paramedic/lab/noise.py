"""Labels that were dealt at random: what simple models agree on, cross-validated, against the labels given.

In a hard task the models are unsure and take certain classes for certain others, and where they are surer they are
right more often. Where labels were dealt at random the samples fall into groups by themselves, the models agree on most
of them, sure or not, and the labels that differ are spread evenly over all other classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

FEWEST_CLASSES = 4
FEWEST_WRONG = 100
AGREED = 0.4  # share of the samples on which all models agree
GROUPED = 0.35  # adjusted mutual information of the models' classes and the groups that a clustering finds
SURER = 0.1  # by which answers are right more often where the models are surer


def dealt(x: Array, scores: Sequence[Array], y: Array) -> dict[str, float] | None:
    """The share of labels that were dealt at random; None where that does not describe them.

    `scores` of the classes are those of several models that have not seen the sample; `y` the labels, by number.
    """
    classes = int(y.max()) + 1
    guesses = [score.argmax(1) for score in scores]
    same = np.all([guess == guesses[0] for guess in guesses[1:]], axis=0)
    agreed, given = guesses[0][same], y[same]
    wrong = agreed != given
    if classes < FEWEST_CLASSES or same.mean() < AGREED or wrong.sum() < FEWEST_WRONG:
        return None
    right = np.array(
        [(given[agreed == c] == c).mean() if (agreed == c).sum() >= 10 else np.nan for c in range(classes)]
    )
    known = right[~np.isnan(right)]
    usual = float(1 - wrong.mean())
    if len(known) < FEWEST_CLASSES or known.min() < 0.5 * usual or not _is_even(agreed[wrong], given[wrong], classes):
        return None
    if _is_surer([score[same] for score in scores], ~wrong) or not _falls_into(x[same], agreed, classes):
        return None
    by_chance = float((np.bincount(y, minlength=classes) / len(y)).max())
    return {"share": (1 - usual) / (1 - by_chance), "agreed": float(same.mean()), "contradicted": float(wrong.mean())}


def _is_surer(scores: Sequence[Array], right: Array) -> bool:
    """Whether answers that a model is surer of are right more often, for any of the models."""
    for score in scores:
        ordered = np.sort(score, axis=1)
        surer = (ordered[:, -1] - ordered[:, -2]).argsort()
        half = len(surer) // 2
        if right[surer[half:]].mean() - right[surer[:half]].mean() > SURER:
            return True
    return False


def _falls_into(x: Array, agreed: Array, classes: int) -> bool:
    """Whether the inputs, without any label, fall into groups that are the classes."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_mutual_info_score

    groups = KMeans(classes, n_init=3, random_state=0).fit_predict(x)
    return float(adjusted_mutual_info_score(agreed, groups)) > GROUPED


def _is_even(agreed: Array, given: Array, classes: int) -> bool:
    """Whether a wrong label has nothing to do with the class it stands for."""
    table = np.zeros((classes, classes))
    np.add.at(table, (agreed, given), 1)
    rows, columns = table.sum(1), np.bincount(given, minlength=classes) / len(given)
    spread = np.tile(columns, (classes, 1))
    np.fill_diagonal(spread, 0)
    spread /= np.maximum(spread.sum(1, keepdims=True), 1e-9)
    expected = rows[:, None] * spread
    counted = expected > 1
    surprise = float(((table - expected)[counted] ** 2 / expected[counted]).sum())
    freedom = max(int(counted.sum()) - 2 * classes + 1, 1)
    return surprise < freedom + 4 * np.sqrt(2 * freedom)
