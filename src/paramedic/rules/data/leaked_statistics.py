"""PM314."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.rules import Abstain, Evidence, Finding, rule

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit


@rule("PM314", "leaked-statistics", severity="warning", reads="audit")
def check(audit: Audit, *, tolerance: float = 1e-4) -> Iterator[Finding]:
    """The data was scaled with statistics computed on training and validation data together.

    Both parts joined have mean 0 and standard deviation 1 (or go from 0 to 1) to many digits, and neither does alone.
    Found by `paramedic audit`.

    ## Why it hurts
    Training has seen part of the validation data's information. With plenty of data the harm is small; with little
    data, or with target statistics among them, the validation score is too good.

    ## What to try first
    `scaler = StandardScaler().fit(x_train)`, then `transform` both parts.

    ## When this is wrong
    Data that was published already scaled: nothing can be done about it, and everybody's numbers have the same fault.

    ## Options
    `tolerance`: how close to 0 and 1 the joint numbers must be.
    """
    from paramedic.audit.models.scaling import scaled_together

    if audit.val is None:
        raise Abstain("no validation data was given (--val)")
    found = scaled_together(audit.train, audit.val, tolerance)
    if found is None:
        return
    how, columns, alone = found
    yield Finding(
        what=f"{columns:,} columns {how} over train and val together, and not in train alone ({alone})",
        why="the scaling statistics come from both parts, so training knows something about the validation data",
        remedy="fit the scaling on the training part only: StandardScaler().fit(x_train), then transform both",
        evidence=(Evidence(name="columns", value=columns, limit="0"),),
        confidence=0.92,
        split="train",
    )
