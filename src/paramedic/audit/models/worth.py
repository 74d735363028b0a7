"""What a leak is worth: how much better a model does on the validation samples that it was trained on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from paramedic.audit.models.features import together

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit

FEWEST = 10  # clean samples to compare with


def leak_worth(audit: Audit, leaked: Sequence[int]) -> str:
    """The end of a sentence, or nothing where no model can be fitted."""
    from sklearn.ensemble import RandomForestClassifier

    if audit.val is None or audit.task.kind != "classification":
        return ""
    train, val = audit.train.features, audit.val.features
    ours, theirs = together(audit.train, audit.val)
    if train.labels is None or val.labels is None or not ours.size:
        return ""
    if audit.train.sketch.target.names != audit.val.sketch.target.names:
        return ""
    of_leak = np.isin(val.indices, np.asarray(leaked))
    if of_leak.sum() < 1 or (~of_leak).sum() < FEWEST:
        return ""
    forest = RandomForestClassifier(50, n_jobs=-1, random_state=0).fit(ours, train.labels)
    right = forest.predict(theirs) == val.labels
    return (
        f". A forest is right in {right[of_leak].mean():.1%} of them and in {right[~of_leak].mean():.1%} of the "
        f"others; together that is {right.mean():.1%}"
    )
