"""PM311 in data: targets that belong to other inputs."""

from collections.abc import Iterator

from paramedic.audit.audit import Audit
from paramedic.audit.checks.check import check
from paramedic.audit.checks.dense_labels import is_dense, wrongly_laid
from paramedic.audit.models.alignment import broken_from, moved_by, should_be_learnable
from paramedic.findings import Evidence, Finding
from paramedic.rules.rule import Abstain

CHANCE = 0.01  # p-value above which nothing counts as found


@check("PM311")
def input_target_misalignment(audit: Audit) -> Iterator[Finding]:
    """A random forest and the nearest neighbour do no better than with permuted targets, and there is a reason to think
    that they should: moved by some rows the targets fit; or other rows of the same data have a relation; or the inputs
    are images of several classes. Without such a reason it is PM322.
    """
    if is_dense(audit) and audit.train.sketch.dense.pictures:
        yield from wrongly_laid(audit)
        return
    if audit.train.source.guessed:
        raise Abstain("the target was only guessed (set it with --label)")
    signal = audit.signal
    if signal is None:
        raise Abstain("too few samples, or no single target per sample")
    random = signal.score < signal.guess + 0.05 and should_be_learnable(audit)
    if signal.p_value < CHANCE and not random:
        row = broken_from(audit.train, audit.task)
        if row is not None:
            what = f"up to sample {row:,} inputs and targets of train are related, after it they are not"
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
