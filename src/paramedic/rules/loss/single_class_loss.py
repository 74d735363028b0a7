"""PM505."""

from collections.abc import Iterator

from paramedic.record.facts import LossCall
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.lines import chosen_at
from paramedic.rules.support import by_place, shape


@rule("PM505", "single-class-loss", severity="error", needs=[LossCall], causes=["PM2", "PM403", "PM405"], lasting=True)
def check(run: Run) -> Iterator[Finding]:
    """Cross-entropy over one class: the loss is zero whatever the model outputs.

    ## Why it hurts
    The softmax of a single number is 1, so the loss and its gradient are exactly zero. The layers before it learn
    nothing from this term.

    ## What to try first
    For yes or no questions use one output with `F.binary_cross_entropy_with_logits`, or two outputs with
    cross-entropy. For a detector with one class drop the class loss.

    ## When this is wrong
    Never: the result is zero by arithmetic.
    """
    for calls in by_place(call for call in run.facts(LossCall) if call.function == "cross_entropy").values():
        sizes = calls[0].input.shape
        if len(sizes) < 2 or any(call.input.shape[1] != 1 for call in calls):
            continue
        yield Finding(
            what=f"F.cross_entropy over 1 class: input {shape(sizes)} gives a loss of exactly 0",
            why="the softmax of one number is always 1, so neither loss nor gradient depends on the model",
            remedy="use F.binary_cross_entropy_with_logits for one output, or give the layer one output per class",
            **chosen_at(calls[0]),
            evidence=(Evidence(name="classes", value=1, limit="≥ 2"),),
            confidence=0.99,
        )
