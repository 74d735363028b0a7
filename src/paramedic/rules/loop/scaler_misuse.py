"""PM606."""

from collections.abc import Iterator

from paramedic.record.facts import Ended, ScalerCall, Step, UnscaledPass
from paramedic.rules import Evidence, Finding, Run, rule


@rule(
    "PM606",
    "scaler-misuse",
    severity="error",
    needs=[ScalerCall],
    causes=["PM605", "PM205", "PM208", "PM101"],
    lasting=True,
)
def check(run: Run) -> Iterator[Finding]:
    """A GradScaler is used incompletely: a step without it, a loss without it, or no update().

    ## Why it hurts
    `optimizer.step()` on the gradients of a scaled loss takes steps up to 65,536 times too large (Adam hides it, except
    in its epsilon and weight decay). Without `scaler.update()` the scale never adapts, and training never recovers from
    an overflow. `scaler.step()` divides all gradients of the optimizer by the scale: those of a second loss that was
    backpropagated without the scaler almost vanish.

    ## What to try first
    `scaler.scale(loss).backward(); scaler.step(optimizer); scaler.update()`: all three, for every loss.

    ## When this is wrong
    Never: the order of calls was observed. A pass after `scaler.unscale_(optimizer)` needs no scale.
    """
    for step in run.facts(Step):
        if step.scaled and step.gradients == "new" and step.count >= 2:
            yield Finding(
                what=f"optimizer.step() used gradients of a scaled loss in {step.count:,} steps",
                why="they are larger by the loss scale (65,536 at first): scaler.step() would have divided by it",
                remedy="replace optimizer.step() with scaler.step(optimizer); scaler.update()",
                where=step.where,
                evidence=(Evidence(name="scaled_steps", value=step.count, limit="0"),),
                confidence=0.97,
            )
            return
    yield from _beside_the_scaler(run)
    calls = run.facts(ScalerCall)
    steps = [call for call in calls if call.call == "step"]
    updates = sum(call.count for call in calls if call.call == "update")
    taken = sum(call.count for call in steps)
    optimizers = len({step.optimizer for step in run.facts(Step)}) or 1
    if taken >= 4 and updates * 2 * optimizers < taken:
        yield Finding(
            what=f"scaler.step() was called {taken:,} times, scaler.update() {updates:,} times",
            why="the loss scale never adapts: after one overflow every following step may be skipped",
            remedy="call scaler.update() after scaler.step(optimizer), once per step",
            where=steps[0].where,
            evidence=(Evidence(name="updates", value=updates, limit=f"{taken:,}"),),
            confidence=0.95,
        )
    crash = run.first(Ended)
    if crash is not None and "unscale_() has already been called" in crash.message:
        yield Finding(
            what="scaler.unscale_() was called twice between two updates",
            why="the second call would divide the gradients again, so torch refuses",
            remedy="call unscale_ once per optimizer and step, and scaler.update() at the end of the step",
            where=crash.where,
            confidence=0.97,
        )


def _beside_the_scaler(run: Run) -> Iterator[Finding]:
    for event in run.facts(UnscaledPass):
        if event.count < 2 or event.scale < 2:
            continue
        yield Finding(
            what=f"the loss at {event.line} goes back without the scaler, and its gradients are added to scaled ones",
            why=f"scaler.step() divides them all by the scale ({event.scale:,.0f} at first), so this loss hardly "
            f"counts: only the one at line {event.scaled_at.line} was scaled",
            remedy="scaler.scale(loss).backward() for each loss of the step, or for their sum",
            where=event.where,
            evidence=(Evidence(name="unscaled_passes", value=event.count, limit="0"),),
            confidence=0.97,
        )
        return
