"""PM508."""

from collections.abc import Iterator

from paramedic.record.facts import LossCall, NoLabels
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import at, many


@rule("PM508", "all-targets-ignored", severity="error", needs=[LossCall], causes=["PM101"], lasting=True)
def check(run: Run) -> Iterator[Finding]:
    """Every label of a batch is the value that the loss ignores.

    ## Why it hurts
    The mean over no labels is 0/0: the loss is NaN, or nothing is learnt from the batch. Typical causes: the prompt is
    masked and truncation removed the answer; a mask is inverted; a padding value equals a real class.

    ## What to try first
    Look at one such batch: where did the labels go? Drop such samples, raise the maximum length, or fix the mask.

    ## When this is wrong
    With `reduction="sum"` an empty batch contributes nothing and does no harm; it is not reported.
    """
    for event in run.facts(NoLabels):
        calls = [c for c in run.facts(LossCall) if (c.where.file, c.where.line) == (event.where.file, event.where.line)]
        if event.reduction != "mean":
            continue
        always = len(calls) > 2 and event.count >= len(calls)
        yield Finding(
            what=f"F.{event.function}: all {event.total:,} labels are {event.ignore_index}, "
            f"which the loss ignores ({many(event.count, 'batch')})",
            why="the mean over no labels is 0/0: the loss is NaN and the batch teaches nothing",
            remedy="find out why no label is left (truncation, inverted mask, wrong padding value); skip such batches",
            where=at(event, None),
            evidence=(
                Evidence(name="labels_counted", value=0, limit="≥ 1"),
                Evidence(name="batches", value=event.count),
            ),
            confidence=0.98 if always else 0.95,
        )
