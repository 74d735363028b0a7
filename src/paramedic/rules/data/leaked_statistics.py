"""PM314."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.rules import Abstain, Evidence, Finding, rule
from paramedic.rules.support import listed

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit


@rule("PM314", "leaked-statistics", severity="warning", reads="audit")
def check(audit: Audit, *, tolerance: float = 1e-4) -> Iterator[Finding]:
    """The data was scaled with statistics of training and validation data together, or of each separately.

    Either both parts together have mean 0 and standard deviation 1 (or range from 0 to 1) to many digits while train
    alone does not, or train and val each do separately. Columns that are uncorrelated over both parts together, and
    not in train alone, come from a PCA of both. Found by `paramedic audit`.

    ## Why it hurts
    Information about the validation data has leaked into training. With plenty of data the harm is small; with little
    data, or if target statistics are included, the validation score is too good. If val was scaled separately, the same
    value means different things in train and val, and a single new sample cannot be scaled at all.

    ## What to try first
    `scaler = StandardScaler().fit(x_train)`, then `transform` both parts.

    ## When this is wrong
    Data that was published already scaled: nothing can be done about it, and everyone's results share the problem.

    ## Options
    `tolerance`: how close to 0 and 1 the numbers must be.
    """
    from paramedic.audit.models.scaling import leaking

    if audit.val is None:
        raise Abstain("no validation data was given (--val)")
    found = leaking(audit.train, audit.val, tolerance)
    if found is None:
        return
    count = len(found.columns)
    yield Finding(
        what=f"{count:,} columns ({listed(map(repr, found.columns))}) {found.how}",
        why="val is scaled with its own statistics, so equal values mean different things in train and val"
        if found.apart
        else "the scaling statistics come from both parts, so validation data leaks into training",
        remedy="fit on the training part alone, the PCA too: scaler = StandardScaler().fit(x_train); "
        "x_train, x_val = scaler.transform(x_train), scaler.transform(x_val)",
        evidence=(Evidence(name="columns", value=count, limit="0"),),
        confidence=0.92,
        split="val" if found.apart else "train",
        columns=found.columns,
    )
