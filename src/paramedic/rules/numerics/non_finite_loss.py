"""PM101."""

import math
from collections.abc import Iterator

from paramedic.record.facts import Backward
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.bad_values import (
    SLOW_DOWN,
    advice,
    cases,
    confidence,
    divergence,
    evidence,
    illness,
    kind_of,
    moment,
    operands_in_words,
    operation,
)

ELSEWHERE = ("the non-finite value did not originate in the loss itself", "see the finding that names the cause")
UNCLEAR = (
    "re-running the step did not show which operation produced it",
    "look at the values the loss is computed from, just before this line",
)


@rule("PM101", "non-finite-loss", severity="error", coverage=[Backward], lasting=True)
def check(run: Run) -> Iterator[Finding]:
    """The loss is NaN or infinite; the finding names the operation outside the model that produced it.

    ## Why it hurts
    One backward pass from such a loss makes every gradient NaN, and one step makes every weight NaN, for good.
    paramedic stops before that step (see `--on-nan`).

    ## What to try first
    Look at the operation and the operands named here. Common causes: the logarithm of 0; a division by a count that is
    0 for some batch; exp of a large number; a loss that had been growing for many steps (then the learning rate is too
    high, and the operation is not at fault).

    ## When this is wrong
    Steps that a GradScaler skips, and non-finite losses that the script itself checks for and skips, are at most a
    note.
    """
    explained = False
    for case in cases(run):
        event = case.event
        if event.reached == "gradient" or event.met == "answer":
            continue
        diverged = divergence(run, event)
        loss = "NaN" if event.loss is not None and math.isnan(event.loss) else f"{event.loss}"
        if illness(event) != "PM101":
            what, (why, remedy) = f"the loss is {loss}{moment(event) or f' at step {event.step}'}", ELSEWHERE
        elif event.origin == "op":
            made = f"{operation(event)} gave {kind_of(event)}{moment(event)}, and the loss is {loss}"
            what = f"{made}: {operands_in_words(event)}"
            why, remedy = advice(event)
            explained = True
        elif explained:
            continue  # the same again, at a step that could not be run once more
        elif reason := event.not_run:
            there = f" on rank {run.rank}" if len(run.ranks) > 1 else ""
            what = f"the loss is {loss}{there}{moment(event) or f' at step {event.step}'}"
            why = f"the lines that computed it were not re-run to find the operation: {reason}"
            how = "in a single process" if len(run.ranks) > 1 else 'on the CPU (CUDA_VISIBLE_DEVICES="")'
            remedy = f"run it once {how} to get the operation and its line"
        else:
            what, (why, remedy) = f"the loss is {loss} at step {event.step}", UNCLEAR
        if diverged is not None:
            why, remedy = diverged, SLOW_DOWN
        yield Finding(
            what=what,
            why=why,
            remedy=remedy,
            where=event.where,
            evidence=(Evidence(name="loss", value=event.loss, limit="finite"), *evidence(event)),
            confidence=0.75 if diverged is not None else confidence(event),
            severity=case.severity,
        )
