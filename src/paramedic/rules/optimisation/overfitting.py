"""PM212."""

from collections.abc import Iterator
from statistics import mean

from paramedic.record.facts import Backward
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.curves import Curve
from paramedic.rules.evaluations import evaluations
from paramedic.rules.outcome import outcome


@rule("PM212", "overfitting", severity="note", needs=[Backward])
def check(run: Run, *, fewest: int = 5, worse: float = 0.1) -> Iterator[Finding]:
    """The loss on held-out data rises while the training loss keeps falling.

    ## Why it hurts
    From that point on the model memorises the training samples, and the checkpoint saved at the end is worse than the
    one from that point.

    ## What to try first
    Keep the weights of the best evaluation and stop early; then try more data, augmentation, weight decay, dropout, or
    a smaller model.

    ## When this is wrong
    With few samples the held-out loss is noisy. A rising loss with rising accuracy usually means overconfidence.

    ## Options
    `fewest`: evaluations needed; `worse`: relative rise of the held-out loss above its lowest value.
    """
    judged = outcome(run)
    for points in evaluations(run, judged.curve.task):
        if len(points) < fewest:
            continue
        best_step, best = min(points, key=lambda point: point[1])
        last = mean(value for _, value in points[-2:])
        now, then = judged.curve.end, _around(judged.curve, best_step)
        if best <= 0 or last < (1 + worse) * best or best_step >= points[-2][0] or now > 0.9 * then:
            continue
        yield Finding(
            what=f"the held-out loss was lowest at step {best_step:,} ({best:.3g}) and rose to {last:.3g}, while the "
            f"training loss fell from {then:.3g} to {now:.3g}",
            why="from there on the model memorised the training samples",
            remedy="keep the weights of the best evaluation; then try weight decay, dropout, augmentation or more data",
            where=judged.curve.where,
            evidence=(
                Evidence(name="held_out_rise", value=round(last / best - 1, 3), limit=f"< {worse:g}"),
                Evidence(name="best_step", value=best_step),
            ),
            confidence=0.85,
        )
        return
    if not any(len(points) >= fewest for points in evaluations(run, judged.curve.task)):
        raise Abstain(f"fewer than {fewest} evaluations with the training's loss function were seen")


def _around(curve: Curve, step: int) -> float:
    """The training loss in the steps before an evaluation."""
    share = min(1.0, step / max(curve.steps, 1))
    end = max(3, round(share * len(curve.values)))
    return mean(curve.values[max(0, end - max(3, len(curve.values) // 10)) : end])
