"""Steps that are too large for the weights, and a loss that went up by them."""

from __future__ import annotations

from statistics import mean, median
from typing import NamedTuple

from paramedic.record.facts import Optimizer
from paramedic.record.reader import Run
from paramedic.rules.outcome import Outcome, explosion, optimizer_of, outcome, pushes
from paramedic.rules.rule import Abstain

PUSH = 0.1  # typical size of an update relative to the weight
JUMP = 1.2  # how far the loss rose above its first value or above guessing, whichever is higher


class Overshoot(NamedTuple):
    """What the steps of a run did to it."""

    optimizer: Optimizer
    push: float
    begun: float  # the first that was too large: those that follow act on weights it has spoilt
    limit: float
    rise: float
    story: str


def overshoot(run: Run, *, push: float = PUSH, jump: float = JUMP) -> Overshoot | None:
    """None if steps are small enough, or all is well."""
    exploded = explosion(run)
    judged = None if exploded is not None else outcome(run)
    if judged is not None and not judged.bad:
        return None
    ratios = pushes(run)
    if len(ratios) < 2:
        raise Abstain("the optimizer's updates were not sampled")
    optimizer = optimizer_of(run)
    if optimizer is None:
        raise Abstain("several optimizers are used")
    if exploded is not None:
        step, before, after = exploded
        worst = max((ratio for at, ratio in ratios if at <= step), default=0.0)
        push /= 3  # what follows leaves less room for doubt
        begun = next((ratio for at, ratio in ratios if at <= step and ratio >= push), worst)
        rise, story = after / before, f"the outputs grew from {before:.3g} to {after:.3g} by step {step:,}"
    elif judged is not None:
        worst = max(median(ratio for _, ratio in part) for part in (ratios[:4], ratios))
        begun, rise, story = worst, _rise(judged), str(judged)
    return Overshoot(optimizer, worst, begun, push, rise, story) if worst >= push and rise >= jump else None


def _rise(judged: Outcome) -> float:
    """How far the loss rose above its first value, or above guessing, whichever is higher."""
    reference = max(judged.curve.values[0], judged.prior or 0.0)
    values = judged.curve.values
    peak = max(mean(values[i : i + 4]) for i in range(len(values) - 3))  # not of a single hard batch
    return peak / reference if reference > 0 else 0.0
