"""PM305 in data: one class far more frequent than another."""

from collections.abc import Iterator

import numpy as np

from paramedic.audit.audit import Audit
from paramedic.audit.checks.check import check
from paramedic.findings import Evidence, Finding
from paramedic.rules.rule import Abstain
from paramedic.rules.support import many

RATIO = 10.0
MOST_CLASSES = 1000


@check("PM305")
def class_imbalance(audit: Audit) -> Iterator[Finding]:
    """Always a note: only a model's predictions can show that it hurts."""
    target = audit.train.sketch.target
    labels = target.labels
    if audit.task.kind != "classification" or labels is None:
        raise Abstain("this is not a classification")
    values, counts = np.unique(labels, return_counts=True)
    if len(values) == 1 and len(labels) > 1:
        yield Finding(
            what=f"all {len(labels):,} samples of train carry the label {target.shown(values[0].item())}",
            why="there is nothing to tell apart: a model that always gives this answer is right",
            remedy="check how the labels are read; for the detection of outliers this may be meant",
            evidence=(Evidence(name="classes", value=1, limit="2 or more"),),
            confidence=0.8,
            severity="note",
            split="train",
        )
    if not 2 <= len(values) <= MOST_CLASSES or counts.max() < RATIO * counts.min():
        return
    most, least = values[counts.argmax()].item(), values[counts.argmin()].item()
    share = counts.max() / counts.sum()
    yield Finding(
        what=f"class {target.shown(most)} is {counts.max() / counts.min():,.0f} times as frequent as class "
        f"{target.shown(least)} ({many(int(counts.min()), 'sample')})",
        why=f"always answering {target.shown(most)} is right in {share:.1%} of the cases: accuracy hides errors on the "
        "rare class",
        remedy="judge by balanced accuracy; weight the loss (weight=1 / counts), or sample the rare class more often",
        evidence=(Evidence(name="imbalance", value=float(counts.max() / counts.min()), limit=f"< {RATIO:g}"),),
        confidence=0.8,
        severity="note",
        split="train",
    )
