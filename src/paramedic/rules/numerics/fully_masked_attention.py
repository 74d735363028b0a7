"""PM108."""

from collections.abc import Iterator

from paramedic.record.facts import Backward
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.bad_values import cases, confidence
from paramedic.rules.support import listed


@rule(
    "PM108",
    "fully-masked-attention",
    severity="error",
    coverage=[Backward],
    causes=["PM101", "PM102", "PM103"],
    lasting=True,
)
def check(run: Run) -> Iterator[Finding]:
    """A softmax row in which every position is masked with -inf: the row is NaN, and so are the gradients.

    ## Why it hurts
    Softmax over nothing is 0/0. Even if the row is discarded later, its NaN reaches the gradients of all shared
    weights. Typical causes: an empty document, a sample that is all padding, an inverted mask.

    ## What to try first
    Make sure that every row has at least one unmasked position: drop empty samples, or unmask the first position of
    such rows. Or mask with a large finite number (`torch.finfo(scores.dtype).min`) instead of -inf.

    ## When this is wrong
    Masked rows whose NaN reaches neither the loss nor a gradient are not reported.
    """
    for case in cases(run, "PM108"):
        event = case.event
        masked, rows = event.masked_rows or (0, 0)
        samples = event.result.rows if event.result is not None else ()
        which = f" (index {listed([str(s) for s in samples])} of the first dimension)" if samples else ""
        yield Finding(
            what=f"{masked:,} of {rows:,} softmax rows have every position masked{which}",
            why="the softmax of a row of -inf is NaN, and its gradient reaches the weights",
            remedy="leave one position unmasked in every row: drop empty samples, or unmask their first position",
            where=event.where,
            evidence=(
                Evidence(name="operation", value=event.op),
                Evidence(name="masked_rows", value=masked, limit="0"),
                Evidence(name="rows", value=rows),
                Evidence(name="reached", value=event.reached),
            ),
            confidence=confidence(event),
            severity=case.severity,
        )
