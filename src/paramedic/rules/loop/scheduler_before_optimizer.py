"""PM607."""

from collections.abc import Iterator

from paramedic.record.facts import ScalerCall, SchedulerStep, Step
from paramedic.rules import Evidence, Finding, Run, rule


@rule("PM607", "scheduler-before-optimizer", severity="warning", needs=[SchedulerStep], coverage=[Step], lasting=True)
def check(run: Run) -> Iterator[Finding]:
    """The learning-rate scheduler is stepped before the optimizer.

    ## Why it hurts
    The first value of the schedule is skipped, so every learning rate comes one period early. With a short schedule or
    a warm-up that makes a real difference.

    ## What to try first
    Call `scheduler.step()` after `optimizer.step()`: at the end of the loop over batches, or at the end of the epoch.

    ## When this is wrong
    When a GradScaler skipped the very first optimizer step: that is not reported.
    """
    skipped = any(call.skipped and call.step == 0 for call in run.facts(ScalerCall))
    for event in run.facts(SchedulerStep):
        if not event.before_first_step or skipped or event.class_ == "ReduceLROnPlateau":
            continue
        yield Finding(
            what=f"{event.class_}.step() ran before the first optimizer.step()",
            why="the first learning rate of the schedule is skipped, and all others come one period early",
            remedy="move scheduler.step() after optimizer.step()",
            where=event.where,
            evidence=(Evidence(name="optimizer_steps_before", value=0, limit="≥ 1"),),
            confidence=0.93,
        )
        return
