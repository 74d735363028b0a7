"""PM311."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.rules import Abstain, Evidence, Finding, rule

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit


@rule("PM311", "input-target-misalignment", severity="error", reads="audit", causes=["PM322", "PM310"])
def check(audit: Audit, *, chance: float = 0.01) -> Iterator[Finding]:
    """The targets do not belong to the inputs they stand beside.

    A random forest and the nearest neighbour do no better than with permuted targets, and there is a reason to think
    that they should: moved by some rows the targets fit; or other rows of the same data have a relation; or the inputs
    are images of several classes. Found by `paramedic audit`.

    ## Why it hurts
    There is nothing true to learn. The network learns the samples by heart, and the validation stays at chance.

    ## What to try first
    Look at ten samples with their targets. Look for what was shuffled, filtered or sorted on one side only: inputs and
    targets from two listings, a `sort` or `drop_duplicates` before a join, `shuffle` applied to one of two arrays.

    ## When this is wrong
    A hard task with a weak relation looks the same to a simple model; without further proof it is PM322, a warning.

    ## Options
    `chance`: the p-value above which targets count as no better than permuted ones.
    """
    from paramedic.audit.models.alignment import broken_from, moved_by, should_be_learnable

    signal = audit.signal
    if signal is None:
        raise Abstain("too few samples, or no single target per sample")
    random = signal.score < signal.guess + 0.05 and should_be_learnable(audit)
    if signal.p_value < chance and not random:
        row = broken_from(audit.train, audit.task)
        if row is not None:
            what = f"up to sample {row:,} inputs and targets of train are related, behind it they are not"
            yield _finding(what, "from there on the targets are those of other samples", signal.p_value, row)
        return
    shift = moved_by(audit.train, audit.task)
    if shift is not None:
        rows = f"{shift:+d} row{'s' * (abs(shift) > 1)}"
        what = f"the targets of train fit when they are moved by {rows}, and not as they are"
        yield _finding(what, "a row was lost or added on one side (a header, a dropped sample)", signal.p_value, None)
    elif random:
        what = (
            "the targets of train fit their inputs no better than permuted ones: a forest is right in "
            f"{signal.score:.1%}, guessing in {signal.guess:.1%} of {signal.size:,} samples"
        )
        why = "pictures of several classes that a simple model cannot tell apart at all are rare"
        yield _finding(what, why, signal.p_value, None)


def _finding(what: str, why: str, p_value: float, row: int | None) -> Finding:
    return Finding(
        what=what,
        why=why,
        remedy="look at ten samples with their targets; find what was shuffled, sorted or dropped on one side only",
        evidence=(Evidence(name="p_value", value=p_value, limit="< 0.01"),),
        confidence=0.9,
        split="train",
        samples=(row,) if row is not None else (),
    )
