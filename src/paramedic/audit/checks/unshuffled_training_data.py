"""PM306 in data: samples that lie sorted by class."""

from collections.abc import Iterator

import numpy as np

from paramedic.audit.audit import Audit, Split
from paramedic.audit.checks.check import check
from paramedic.findings import Evidence, Finding
from paramedic.rules.rule import Abstain

FEWEST = 50
EXCESS = 0.5


@check("PM306")
def unshuffled_training_data(audit: Audit) -> Iterator[Finding]:
    """A warning for a loader that keeps the order; a note for data that somebody else may shuffle."""
    labels = audit.train.sketch.target.labels
    if audit.task.kind != "classification" or labels is None or len(labels) < FEWEST:
        raise Abstain("there is no row of class labels to look at")
    _, counts = np.unique(labels, return_counts=True)
    by_chance = float(((counts / counts.sum()) ** 2).sum())
    if len(counts) < 2 or by_chance > 0.8:
        raise Abstain("one class makes up nearly all labels, so their order cannot be judged")
    excess = (float(np.mean(labels[1:] == labels[:-1])) - by_chance) / (1 - by_chance)
    if excess < EXCESS:
        return
    kept = _keeps_order(audit.train)
    if kept is False or audit.train.source.kind == "images":
        return  # folders are always read class by class
    yield Finding(
        what=f"the samples of train are sorted by class: neighbouring rows share their label "
        f"{excess:.0%} more often than in shuffled data",
        why="the loader gives them in this order: the model learns one class at a time and forgets the ones before"
        if kept
        else "a split by position gets other classes than the rest, and so do batches unless they are shuffled",
        remedy="DataLoader(..., shuffle=True)" if kept else "shuffle before splitting, and in the training loader",
        evidence=(Evidence(name="label_excess", value=round(excess, 3), limit=f"< {EXCESS:g}"),),
        confidence=0.92 if kept else 0.7,
        severity="warning" if kept else "note",
        split="train",
    )


def _keeps_order(split: Split) -> bool | None:
    """Whether the loader gives the samples as they lie; None when there is no loader to ask."""
    if split.source.kind != "loader":
        return None
    return type(getattr(split.source.origin, "sampler", None)).__name__ == "SequentialSampler"
