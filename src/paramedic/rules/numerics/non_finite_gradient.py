"""PM103."""

from collections.abc import Iterator

from paramedic.record.facts import Backward, NonFinite
from paramedic.rules import Finding, Run, rule
from paramedic.rules.bad_values import (
    SLOW_DOWN,
    advice,
    cases,
    confidence,
    divergence,
    evidence,
    operands_in_words,
    operation,
)


@rule("PM103", "non-finite-gradient", severity="error", coverage=[Backward], causes=["PM101", "PM102"], lasting=True)
def check(run: Run) -> Iterator[Finding]:
    """The loss is finite, but its gradient is NaN or infinite; the finding names the forward line.

    ## Why it hurts
    The loss looks fine, so nothing warns you; the next step writes NaN into every weight that the gradient reaches.
    Typical causes: a root, a norm or a power at exactly 0; a division by 0 whose result `torch.where` discards (where
    stops the value, not the gradient: 0 · inf is NaN); acos at ±1.

    ## What to try first
    Guard the argument, not the result: add a small number under the root, replace zero denominators before dividing.

    ## When this is wrong
    Steps that a GradScaler skips are not reported, nor gradients that no optimizer uses.
    """
    for case in cases(run, "PM103"):
        event = case.event
        if event.origin != "op" and _came_from_another_rank(run, event):
            continue
        diverged = divergence(run, event)
        if event.origin == "op":
            who = f"{event.node} gave" if event.own_backward else f"the derivative of {operation(event)} is"
            what = f"{who} not finite: {operands_in_words(event)}. The loss itself is {_number(event.loss)}"
            why, remedy = advice(event)
        else:
            what = f"the loss is {_number(event.loss)}, but its gradient is not finite"
            why = "re-running the step did not show which operation produced it"
            if event.not_run:
                why = f"the step was not re-run to find the operation: {event.not_run}"
            remedy = "look for a root, a norm, a division or a power whose argument can be exactly 0"
        if diverged is not None:
            why, remedy = diverged, SLOW_DOWN
        yield Finding(
            what=what,
            why=why,
            remedy=remedy,
            where=event.where,
            evidence=evidence(event),
            confidence=0.75 if diverged is not None else confidence(event),
            severity=case.severity,
        )


def _came_from_another_rank(run: Run, event: NonFinite) -> bool:
    """Gradients are averaged over ranks: one bad loss spoils them on all ranks, and is reported on its own rank."""
    others = [case.event for member in run.ranks if member is not run for case in cases(member)]
    return any(other.reached == "loss" and other.step == event.step for other in others)


def _number(loss: float | None) -> str:
    return "finite" if loss is None else f"{loss:.4g}"
