"""PM605."""

from collections.abc import Iterator

from paramedic.record.facts import Clip, ScalerCall
from paramedic.rules import Evidence, Finding, Run, rule


@rule(
    "PM605",
    "clipped-scaled-gradients",
    severity="error",
    needs=[Clip],
    coverage=[ScalerCall],
    causes=["PM206"],
    lasting=True,
)
def check(run: Run, *, factor: float = 100.0) -> Iterator[Finding]:
    """Gradients are clipped while they still carry the loss scale.

    With a GradScaler gradients are multiplied by the loss scale, 65,536 at first. Clipped to a norm of 1 and then
    unscaled, they are 65,536 times too small.

    ## Why it hurts
    Training is extremely slow although everything looks right.

    ## What to try first
    `scaler.unscale_(optimizer)` between `backward()` and the clipping.

    ## When this is wrong
    A limit that is itself multiplied by the loss scale is correct, if unusual, and is not reported.

    ## Options
    `factor`: how much smaller than the loss scale the limit must be.
    """
    for event in run.facts(Clip):
        meant = event.limit is not None and event.limit * factor >= event.scale
        if event.scaled and event.pending and event.count >= 2 and not meant:
            yield Finding(
                what=f"{event.function} saw gradients multiplied by the loss scale in {event.count:,} calls",
                why=f"they are clipped to the limit and then divided by the scale ({event.scale:,.0f} at first): "
                "the updates almost vanish",
                remedy="call scaler.unscale_(optimizer) before this line",
                where=event.where,
                evidence=(Evidence(name="scaled_clips", value=event.count, limit="0"),),
                confidence=0.98,
            )
