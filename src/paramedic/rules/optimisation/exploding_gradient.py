"""PM202."""

import math
from collections.abc import Iterator
from dataclasses import replace
from statistics import median

from paramedic.record.facts import Backward, Clip, Model
from paramedic.rules import Abstain, Evidence, Finding, Run, Where, rule
from paramedic.rules.outcome import Outcome, explosion, finite, outcome


@rule(
    "PM202",
    "exploding-gradient",
    severity="warning",
    needs=[Backward],
    coverage=[Model],
    causes=["PM109", "PM205", "PM207", "PM208", "PM209", "PM213", "PM305"],
    symptom=True,
)
def check(
    run: Run,
    *,
    sensitivity: float = 1e4,
    chaotic: float = 1e6,
    clipped: float = 100.0,
    overflowing: float = 200.0,
) -> Iterator[Finding]:
    """Gradients are so large that their direction is meaningless.

    ## Why it hurts
    A gradient describes the loss only in a tiny neighbourhood of the weights. If it is huge, every step leaves that
    neighbourhood, and its direction means nothing. Clipping it hides its size but keeps the meaningless direction.

    ## What to try first
    Recurrent networks: `nn.init.orthogonal_` on the recurrent weights, an LSTM or GRU, shorter sequences. Otherwise
    normalisation layers, a smaller initialisation, scaled inputs and targets; then `clip_grad_norm_`.

    ## When this is wrong
    Clipping in the first steps is normal. It is an alarm only if the loss has hardly come down.

    ## Options
    `sensitivity`: ‖gradient‖·‖weights‖ / loss, the percentage by which the loss would change for one percent of the
    weights; `chaotic`: the sensitivity at which rounding decides the course of the training, so that it is blamed for
    any loss that has not come down by half; `clipped`: how many times larger than the clipping threshold gradients
    typically are; `overflowing`: the sensitivity above which it is blamed for an overflowing loss.
    """
    exploded = explosion(run)
    if exploded is not None:
        yield from _at_once(run, exploded[0], overflowing)
        return
    judged = outcome(run)
    norms = _norms(run)
    if len(norms) < 3:
        raise Abstain("fewer than three steps were sampled")
    weights = [math.hypot(*(s.norm for s in sample.summaries.values())) for sample in run.samples("weight")]
    typical, weight = median(norms), weights[0] if weights else 0.0  # before they were thrown about
    loss = max(abs(judged.curve.end), abs(judged.curve.first))
    measured = typical * weight / loss if loss else 0.0
    limits = [event.limit for event in run.facts(Clip) if event.limit]
    excess = typical / max(limits) if limits and run.series("norm_before_clip") else 0.0
    failed = measured > sensitivity or (excess > clipped and measured > sensitivity / 100)
    if (judged.bad and failed) or (measured > chaotic and _barely_learnt(judged)):
        yield _finding(run, judged.curve.where, str(judged), typical, measured, sensitivity)


def _barely_learnt(judged: Outcome) -> bool:
    """Less than half of the guess is gone; on which side of "like guessing" it ends is then luck."""
    return judged.curve.end > 0.5 * (judged.prior or judged.curve.start)


def _at_once(run: Run, step: int, limit: float) -> Iterator[Finding]:
    """The loss overflowed: were its gradients huge while it was still finite?"""
    weights = {sample.step: sample.summaries for sample in run.samples("weight")}
    losses = dict(point for points in run.curves("loss").values() for point in points)
    where, first = run.facts(Backward)[0].where, next(iter(losses.values()), 0.0)
    start = None
    for sample in run.samples("gradient"):
        loss, held = losses.get(sample.step), weights.get(sample.step, {})
        size = math.hypot(*(s.norm for s in held.values()))
        start = start or size
        broken = any(s.nan or s.inf for s in sample.summaries.values())
        if sample.step > step or not loss or not math.isfinite(loss) or broken or size > 2 * start:
            continue  # what matters is the gradient before the weights had been thrown about
        norm = math.hypot(*(s.norm for s in sample.summaries.values()))
        measured = norm * size / max(abs(loss), abs(first))
        if measured > limit:
            yield _finding(run, where, "then the loss overflowed", norm, measured, limit)
            return


def _norms(run: Run) -> list[float]:
    """Of all gradients together, before any clipping."""
    return finite(value for _, value in run.series("norm_before_clip") or run.series("gradient_norm"))


def _finding(run: Run, where: Where, story: str, norm: float, measured: float, limit: float) -> Finding:
    name = _largest(run)
    where = replace(where, module=name.rpartition(".")[0] or None)
    times = f"{measured / 100:,.0f}" if measured < 1e8 else f"{measured / 100:.1g}"
    return Finding(
        what=f"the gradient's norm is typically {norm:.2g}, most of it in {name}",
        why=f"changing the weights by one percent would change the loss {times}-fold; {story}",
        remedy="stabilise the layer: orthogonal or smaller initialisation, normalisation, an LSTM or GRU for long "
        "sequences, scaled inputs; then nn.utils.clip_grad_norm_ before the step",
        where=where,
        evidence=(
            Evidence(name="gradient_norm", value=float(f"{norm:.3g}")),
            Evidence(name="sensitivity", value=float(f"{measured:.3g}"), limit=f"≤ {limit:g}"),
        ),
        confidence=0.9,
    )


def _largest(run: Run) -> str:
    """The parameter with the largest gradient."""
    sample = run.samples("gradient")[0] if run.samples("gradient") else None
    if sample is None or not sample.summaries:
        return "an unknown layer"
    return max(sample.summaries, key=lambda name: sample.summaries[name].norm)
