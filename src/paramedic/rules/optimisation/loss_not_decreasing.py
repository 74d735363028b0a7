"""PM207."""

from collections.abc import Iterator

from paramedic.record.facts import Backward, LossCall
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.curves import Curve, loss_curves
from paramedic.rules.lines import edited_at, first_link, target_history
from paramedic.rules.outcome import guess
from paramedic.static.history import Link
from paramedic.static.signs import counts, draws_an_order

_GUESSES = ("knows only how often each class occurs", "always predicts the mean")


@rule("PM207", "loss-not-decreasing", severity="warning", needs=[Backward], symptom=True)
def check(run: Run, *, horizon: int = 100, improvement: float = 0.02) -> Iterator[Finding]:
    """The training loss does not improve over a meaningful horizon.

    ## Why it hurts
    The model has learnt nothing beyond how often each class occurs, or the mean of the targets.

    ## What to try first
    Can it overfit a single batch? If not, look for a bug in the model or the loss; if it can, look at the data: do
    inputs and labels match? Then try a learning rate ten times higher and lower.

    ## When this is wrong
    The losses of GANs and reinforcement learning need not fall and are not judged. A run that starts from a trained
    model may have nothing left to learn.

    ## Options
    `horizon`: fewest steps before it is reported; `improvement`: smallest relative fall of the smoothed loss.
    """
    curves = loss_curves(run)
    if not curves:
        raise Abstain("the loss is not a scalar")
    if len(curves) > 1:
        raise Abstain("several losses are trained together or against each other")
    curve = curves[0]
    if len(curve.values) < horizon:
        raise Abstain(f"only {len(curve.values)} steps; {horizon} are needed to judge the curve")
    if curve.task is None:
        raise Abstain("the value of this loss means nothing by itself: it is a sum of terms, or hand-written")
    prior = guess(run, curve)
    if curve.start <= 0 or curve.improvement >= improvement or curve.trend_down:
        return
    if _already_good(curve, prior):
        return
    if "entropy" not in curve.task and curve.doubt > improvement * curve.start:
        raise Abstain("the loss varies so much between batches that it could hide a weak signal")
    at_prior = prior is not None and abs(curve.end - prior) <= 0.1 * max(prior, 1e-9)
    yield Finding(
        what=f"the loss went from {curve.start:.4g} to {curve.end:.4g} in {curve.steps:,} steps: no improvement",
        why=f"it is stuck at {prior:.3g}, the loss of a model that {_GUESSES[curve.task == 'mse_loss']}"
        if at_prior
        else "nothing is being learnt from the inputs",
        remedy="check that inputs and labels match, then try to overfit one batch",
        **edited_at(curve.where, _labels_apart(run)),
        evidence=(
            Evidence(name="improvement", value=round(curve.improvement, 4), limit=f"≥ {improvement:g}"),
            Evidence(name="final_loss", value=curve.end, limit=f"prior {prior:.3g}" if prior is not None else ""),
        ),
        confidence=0.85 if at_prior else 0.7,
    )


def _labels_apart(run: Run) -> Link | None:
    """Where labels lose the order of the inputs: shuffled separately, or made by counting."""
    calls = run.facts(LossCall, phase="train")
    if not calls:
        return None
    made = target_history(run, calls[0], calls[0].function)
    return first_link(made, draws_an_order) or first_link(made, counts)


def _already_good(curve: Curve, prior: float | None) -> bool:
    """It starts well below what guessing gives: there is little left to learn."""
    return prior is not None and curve.start < 0.7 * prior
