"""PM102."""

from collections.abc import Iterator

from paramedic.record.facts import Backward
from paramedic.rules import Finding, Run, rule
from paramedic.rules.bad_values import (
    SLOW_DOWN,
    advice,
    cases,
    confidence,
    divergence,
    evidence,
    kind_of,
    moment,
    operands_in_words,
    operation,
)


@rule("PM102", "non-finite-activation", severity="error", coverage=[Backward], causes=["PM101"], lasting=True)
def check(run: Run) -> Iterator[Finding]:
    """An operation inside the model turns finite values into NaN or inf, which reaches the loss or an evaluation.

    ## Why it hurts
    Everything downstream becomes NaN: the loss, the gradients and, after the next step, all weights.

    ## What to try first
    The operation named here is the first with finite inputs and a non-finite result; everything after it only passes
    that value on. Guard its argument, or find out why the argument has that value.

    ## When this is wrong
    Intentional infinities (masks before a softmax, scores in log space) are not reported, because they do not make the
    loss non-finite.
    """
    for case in cases(run, "PM102"):
        event, diverged = case.event, divergence(run, case.event)
        why, remedy = advice(event)
        if diverged is not None:
            why, remedy = diverged, SLOW_DOWN
        yield Finding(
            what=f"{operation(event)} gave {kind_of(event)} for finite inputs{moment(event)}: "
            + operands_in_words(event),
            why=why,
            remedy=remedy,
            where=event.where,
            evidence=evidence(event),
            confidence=0.75 if diverged is not None else confidence(event),
            severity=case.severity,
        )
