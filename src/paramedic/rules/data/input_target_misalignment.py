"""PM311."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.record.facts import Confusion, Loader, Trial
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.experiments import Lab, at

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit


@rule(
    "PM311",
    "input-target-misalignment",
    severity="error",
    causes=["PM207", "PM209", "PM212", "PM213", "PM322"],
)
def check(run: Run, *, structured: float = 1.3) -> Iterator[Finding]:
    """Labels do not match their inputs: no better than permuted ones, or classes numbered differently for evaluation.

    The first is found by experiments (`paramedic diagnose`): the real labels are no better than permuted ones, for this
    model and for simple ones. The second shows in a run: in the evaluation almost every sample of a class gets one and
    the same wrong answer, and each class another one.

    ## Why it hurts
    Inputs and labels do not match: sorted or shuffled separately, read from files in another order, off by one. The
    model can only learn how often each label occurs, or memorise the samples. Where training and validation number
    their classes separately (`sorted(os.listdir(...))` of folders that are not the same), a good model looks worthless.

    ## What to try first
    Take ten samples and look at them next to their labels. Then find the place where inputs and labels are loaded,
    sorted, shuffled or split: both must go through it together. Number the classes once, from the training data, and
    use that numbering everywhere.

    ## When this is wrong
    A hard task with a weak signal looks alike when there are few samples. It is only said when simple models find
    nothing in hundreds of samples either, and when the model is able to learn: one batch, or synthetic data with a
    simple rule. Features that do not even depend on each other are PM322.

    ## Options
    `structured`: how far the features depend on each other; 1 is what pure noise has.
    """
    yield from _renumbered(run)
    if not run.facts(Trial):
        raise Abstain("needs experiments (paramedic diagnose)")
    lab = Lab(run)
    permuted = lab.get("permuted-labels")
    if permuted is None:
        raise Abstain("the labels could not be permuted, or are not used")
    if lab.signal is None:
        raise Abstain("the samples were too few or too complex for simple models")
    if lab.trouble not in ("flat", "memorises") or lab.signal != "none":
        return
    if lab.needs_time:
        raise Abstain("the script was stopped early and may simply be slow")
    answer = lab.tried["simple-models"].answer
    if not (lab.learns_twin or lab.learns_one_batch) or answer["structure"] < structured:
        return  # features that are mere noise are another illness
    able = "synthetic data with a simple rule" if lab.learns_twin else "a single batch"
    loader = run.first(Loader)
    held = lab.get("held-out")
    only = f", and {held.exam:.3g} on samples it has not seen" if held is not None and held.exam is not None else ""
    yield Finding(
        what=f"the loss ends at {lab.base.last:.3g} with the real labels{only}; permuted, at {permuted.last:.3g}",
        why=f"inputs and labels do not match, or the inputs carry no information about them: the model can "
        f"learn {able}, and in {answer['samples']:,} samples a {answer['best']} finds nothing either",
        remedy="look at ten samples next to their labels, then at where the two are read, sorted or shuffled",
        where=at(loader),
        evidence=(
            lab.base.evidence(),
            permuted.evidence(),
            Evidence(name=f"best of the simple models ({answer['best']})", value=round(answer["score"], 3),
                     limit=f"chance {answer['chance']:.3g}"),
        ),
        confidence=0.88,
    )  # fmt: skip


def _renumbered(run: Run, *, share: float = 0.9, fewest: int = 5) -> Iterator[Finding]:
    """The last evaluation: nearly every label has one answer, each another one, and most are wrong."""
    last = {event.line: event for event in run.facts(Confusion, phase="eval")}
    for event in last.values():
        known = [
            (label, answer) for label, total, answer, hits in event.labels if total >= fewest and hits >= share * total
        ]
        moved = [(label, answer) for label, answer in known if label != answer]
        counted = [label for label, total, *_ in event.labels if total >= fewest]
        if len(known) < 3 or len(known) < share * len(counted) or len(moved) < 2 / 3 * len(known):
            continue
        if len({answer for _, answer in known}) < len(known):
            continue
        shown = ", ".join(f"{answer} for {label}" for label, answer in moved[:4])
        yield Finding(
            what=f"the evaluation gets one and the same wrong answer for nearly all samples of a class: {shown}",
            why="the model tells the classes apart, but these labels number them differently from the training data",
            remedy="number the classes once, from the training data, and give that numbering to all datasets",
            where=event.where,
            evidence=(Evidence(name="classes_answered_by_another", value=len(moved), limit="0"),),
            confidence=0.96,
        )


# In an audit: the data itself, before any training.
CHANCE = 0.01  # p-value above which nothing counts as found


def in_data(audit: Audit) -> Iterator[Finding]:
    """A random forest and the nearest neighbour do no better than with permuted targets, and there is a reason to think
    that they should: moved by some rows the targets fit; or other rows of the same data have a relation; or the inputs
    are images of several classes. Without such a reason it is PM322.
    """
    from paramedic.audit.dense_labels import is_dense, wrongly_laid
    from paramedic.audit.models.alignment import broken_from, moved_by, should_be_learnable

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
