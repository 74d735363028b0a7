"""PM323 in data: classes that are evaluated but never trained."""

from collections.abc import Iterator

import numpy as np

from paramedic.audit.audit import Audit, Split
from paramedic.audit.checks.check import check
from paramedic.audit.checks.dense_labels import is_dense, never_seen
from paramedic.findings import Evidence, Finding
from paramedic.rules.rule import Abstain
from paramedic.rules.support import listed

FEWEST = 3
SHARE = 0.01
PER_CLASS = 30
MOST_CLASSES = 1000


@check("PM323")
def target_never_seen(audit: Audit) -> Iterator[Finding]:
    """A class of val that train lacks is a warning; a gap in the class numbers is a note."""
    train = audit.train.sketch.target
    if is_dense(audit):
        yield from never_seen(audit)
        return
    if audit.task.kind != "classification" or train.labels is None:
        raise Abstain("this is not a classification")
    values = np.unique(train.labels)
    if audit.val is not None and audit.val.sketch.target.labels is not None:
        yield from _only_in_val(audit.train, audit.val)
    whole = not train.names and values.dtype.kind in "iu" and values[0] == 0 and len(values) > 2
    if not whole or len(values) > MOST_CLASSES:
        return
    gaps = [int(v) for v in np.setdiff1d(np.arange(int(min(values[-1], 10_000)) + 1), values)]
    if gaps and len(gaps) < 0.2 * len(values) and audit.train.size > PER_CLASS * len(values):
        yield Finding(
            what=f"no sample of train has the label {listed([str(v) for v in gaps])}, but labels go to {values[-1]}",
            why="the model has an output that is never trained; or these samples were lost",
            remedy="renumber the classes without gaps, or look for the samples that are missing",
            evidence=(Evidence(name="missing_labels", value=len(gaps), limit="0"),),
            confidence=0.7,
            severity="note",
            split="train",
        )


def _only_in_val(train: Split, val: Split) -> Iterator[Finding]:
    known = _named(train)
    labels = val.sketch.target.labels
    assert labels is not None
    names = val.sketch.target.names
    shown = list(names) if names else None
    keys = [shown[int(v)] if shown else v.item() for v in np.unique(labels)]
    strange = [key for key in keys if key not in known]
    codes = [names[key] if shown else key for key in strange]
    hit = np.isin(labels, codes)
    samples = val.sketch.target.samples[hit].tolist()
    if len(samples) < max(FEWEST, SHARE * val.size):
        return
    yield Finding(
        what=f"{len(samples):,} samples of val have a class that train never has: {listed([repr(k) for k in strange])}",
        why="the model cannot learn it; usually the data was sorted by class when it was split",
        remedy="shuffle before splitting, or split by class (train_test_split(..., stratify=y))",
        evidence=(Evidence(name="classes_only_in_val", value=len(strange), limit="0"),),
        confidence=0.95,
        split="val",
        samples=tuple(samples),
    )


def _named(split: Split) -> set[object]:
    target = split.sketch.target
    if target.names:
        return set(target.names)
    return set(np.unique(target.labels).tolist()) if target.labels is not None else set()
