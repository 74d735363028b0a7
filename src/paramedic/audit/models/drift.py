"""Can a forest tell validation samples from training samples? Out of bag, so that it has not seen those it judges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paramedic.audit.models.features import together

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit

FEWEST, MOST = 100, 1_000  # samples of each part
TREES = 100
SURE = 6.0  # standard errors


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """How well the parts are told apart, and by which columns (empty where they have no names)."""

    area: float
    columns: list[str]


def told_apart(audit: Audit, telling: float) -> Drift | None:
    """None where the area under the curve is below `telling` (0.5 is guessing), or there are too few samples."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.metrics import roc_auc_score

    if audit.val is None:
        return None
    train, val = together(audit.train, audit.val)
    if min(len(train), len(val)) < FEWEST or not train.shape[1]:
        return None
    random = np.random.default_rng(0)
    parts = [part[random.permutation(len(part))[:MOST]] for part in (train, val)]
    rows = np.concatenate(parts)
    of_val = np.repeat([0, 1], [len(part) for part in parts])
    forest = RandomForestClassifier(
        TREES, oob_score=True, n_jobs=-1, random_state=0, min_samples_leaf=5, class_weight="balanced"
    )
    forest.fit(rows, of_val)
    score = np.nan_to_num(np.asarray(forest.oob_decision_function_)[:, 1], nan=0.5)
    area = float(roc_auc_score(of_val, score))
    error = ((len(rows) + 1) / (12 * len(parts[0]) * len(parts[1]))) ** 0.5
    if area < telling or area < 0.5 + SURE * error:
        return None
    names = list(next(iter(audit.train.source.features.values()), ()))
    strongest = np.argsort(-forest.feature_importances_)[:3]
    return Drift(area=area, columns=[repr(names[i]) for i in strongest.tolist() if i < len(names)])
