"""PM111."""

from collections.abc import Iterator

from paramedic.record.facts import ScalerCall
from paramedic.rules import Abstain, Evidence, Finding, Run, rule


@rule("PM111", "collapsing-loss-scale", severity="warning", needs=[ScalerCall], causes=["PM207", "PM213"])
def check(run: Run, *, share: float = 0.2, fewest: int = 10, lowest: float = 1.0) -> Iterator[Finding]:
    """The GradScaler skips a large share of the steps, or its scale collapses towards 0.

    ## Why it hurts
    Every skipped step wastes a batch. A scale below 1 means that gradients overflow even without scaling: the model
    itself produces infinities.

    ## What to try first
    If steps are skipped regularly, `growth_interval` is too small: leave it at 2000. If the scale keeps halving, look
    for the layer that overflows in float16, or use bfloat16, which needs no scaler.

    ## When this is wrong
    The scaler starts high and halves its scale until the gradients fit; these first steps are not counted.

    ## Options
    `share`: share of steps skipped after the start; `fewest`: fewest skipped steps; `lowest`: lowest scale that is
    fine.
    """
    skips = run.series("skipped_at_scale")
    if run.steps < 2 * fewest:
        raise Abstain(f"only {run.steps} steps")
    start = next((step for step, _ in skips if step > 0), 0) if skips and skips[0][0] == 0 else 0
    late = [(step, scale) for step, scale in skips if step > min(start, run.steps // 10)]
    part = len(late) / (len(late) + run.steps)
    bottom = min((scale for _, scale in skips), default=lowest)
    if (len(late) < fewest or part < share) and bottom >= lowest:
        return
    built = next((event for event in run.facts(ScalerCall) if event.call == "built"), run.facts(ScalerCall)[0])
    interval = built.growth_interval
    eager = interval is not None and interval < 100 and bottom >= lowest
    yield Finding(
        what=f"the GradScaler skipped {len(skips):,} of {len(skips) + run.steps:,} steps; its scale fell to {bottom:g}",
        why=f"every {interval} steps it raises its scale, overflows and skips the next step"
        if eager
        else "the gradients overflow in float16 at almost any scale",
        remedy="leave growth_interval at its default of 2000"
        if eager
        else "find the layer whose values exceed 65504, or use torch.bfloat16 without a scaler",
        where=built.where,
        evidence=(
            Evidence(name="skipped_share", value=round(part, 3), limit=f"< {share:g}"),
            Evidence(name="lowest_scale", value=bottom, limit=f"≥ {lowest:g}"),
        ),
        confidence=0.93,
    )
