"""PM903."""

from collections.abc import Iterator

from paramedic.record.facts import EvalForward, Step, TrainForward
from paramedic.rules import Evidence, Finding, Run, rule


@rule("PM903", "evaluation-changes-training", severity="note", needs=[EvalForward, Step], coverage=[TrainForward])
def check(run: Run) -> Iterator[Finding]:
    """Evaluation draws from the random number generator that training uses.

    ## Why it hurts
    Everything random after an evaluation (shuffling, dropout, augmentation) gets different numbers than without it. Two
    runs that evaluate at different times, or on a different number of batches, cannot be compared step by step.

    ## What to try first
    `with torch.random.fork_rng(): evaluate()`, or a separate `torch.Generator` for the evaluation.

    ## When this is wrong
    When runs need not be identical. The single number that a DataLoader draws at the start of an iteration is not
    counted.
    """
    last = max(event.last_step for event in run.facts(Step))
    for event in run.facts(EvalForward):
        if event.drew and not event.training and event.uses and event.step < last:
            yield Finding(
                what=f"{event.module} drew random numbers in {event.count:,} of its evaluation calls",
                why="training continues with different random numbers than it would without the evaluation",
                remedy="wrap the evaluation in: with torch.random.fork_rng():",
                where=event.where,
                evidence=(Evidence(name="calls_that_drew", value=event.count, limit="0"),),
                confidence=0.95,
            )
            return
