"""PM405."""

from collections.abc import Iterator

from paramedic.findings import Where
from paramedic.record.facts import Census, Optimizer, Rates
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import common_path, listed, many, parameter_histories


@rule("PM405", "unchanged-parameter", severity="error", needs=[Census, Optimizer])
def check(run: Run, *, fewest: int = 4) -> Iterator[Finding]:
    """A parameter with a gradient, held by an optimizer, does not change at all.

    ## Why it hurts
    The update is computed and lost: written to a copy (a non-contiguous parameter and `reshape`), multiplied by a
    learning rate of zero, or rounded away.

    ## What to try first
    Check the learning rate of its group. In your own optimizer, write with in-place methods on the parameter itself
    (`p.add_(...)`), not on a reshaped copy.

    ## When this is wrong
    During a warm-up that starts at zero nothing moves, and nothing is reported; nor are groups that start at zero and
    get a learning rate later.

    ## Options
    `fewest`: examined steps with a non-zero gradient and no movement.
    """
    histories = parameter_histories(run)
    for optimizer in run.facts(Optimizer):
        own = [h for h in histories if h.optimizer == optimizer.number]
        still = [h for h in own if h.watched >= fewest and not h.moved]
        zero_to_the_end = _always_at_zero(run, optimizer) if run.steps >= 30 and any(h.moved for h in histories) else ()
        at_zero = [
            h
            for h in own
            if h.name in zero_to_the_end and h.examined == h.nonzero >= fewest and not h.moved and h.rate == 0.0
        ]
        for members, because in ((still, "the optimizer's write is lost"), (at_zero, "")):
            if not members:
                continue
            names = [h.name for h in members]
            part = common_path(names)
            steps = min(h.watched or h.nonzero for h in members)
            yield Finding(
                what=f"{many(len(names), 'tensor')} with a non-zero gradient did not change in {steps} examined steps: "
                f"{listed(names)}",
                why=because or "the learning rate of their group is 0 in every examined step",
                remedy="update the parameter itself in place (p.add_), not p.reshape(-1), which may be a copy"
                if because
                else "give the group a learning rate above 0, or freeze it with requires_grad_(False)",
                where=Where(
                    file=optimizer.where.file,
                    line=optimizer.where.line,
                    function=optimizer.where.function,
                    module=part,
                    step=members[0].first_step,
                ),
                evidence=(
                    Evidence(name="steps_moved", value=0, limit="≥ 1"),
                    Evidence(name="learning_rate", value=members[0].rate, limit="> 0"),
                ),
                severity="error" if because else "warning",
                confidence=0.95 if because else 0.8,
            )


def _always_at_zero(run: Run, optimizer: Optimizer) -> set[str]:
    """The parameters of groups whose learning rate never left zero; known only at the end of a run."""
    ends = [event for event in run.facts(Rates) if event.optimizer == optimizer.number]
    return {
        name
        for end in ends
        for group, highest in zip(optimizer.groups, end.highest, strict=False)
        if highest == 0.0
        for name in group.parameters
    }
