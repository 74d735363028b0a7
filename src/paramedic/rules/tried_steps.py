"""What updates tried on a copy say about their size and direction, whatever the loss is made of.

The loss of one batch is compared with itself, so it may be negative, hand-written or a sum of terms. A loss curve must
also show that training got nowhere: large or small steps alone are not a fault.
"""

from __future__ import annotations

from statistics import pstdev
from typing import NamedTuple

from paramedic.record.facts import EvalForward, Load, Optimizer, StepTried
from paramedic.record.reader import Run
from paramedic.rules.curves import Curve, loss_curves, non_finite_steps
from paramedic.rules.outcome import FEWEST, optimizer_of

ENOUGH = 3  # tries before they say something about a whole run
GOT_NOWHERE = 0.02  # share of the first loss that must be gone


class Tries(NamedTuple):
    """The updates of a run that were tried, and its loss curve; None: it became non-finite before there was one."""

    found: list[StepTried]
    curve: Curve | None


def too_large(run: Run) -> tuple[StepTried, Tries] | None:
    """Updates in the right direction that raise the loss of their own batch, while training broke or got nowhere."""
    tries = _tries(run)
    if tries is None:
        return None
    scale = pstdev(tries.curve.values) if tries.curve is not None else 0.0
    broken = non_finite_steps(run)
    if broken:  # by these steps, if there never were any others
        first = [t for t in tries.found if t.step < broken[0]]
        explains = first and first[0].step <= 1 and all(_blows_up(t) for t in first)
        return (first[0], tries) if explains else None
    thrown = [t for t in tries.found if _blows_up(t)]
    if thrown and _ends_high(tries.curve):
        return thrown[0], tries  # it has never come back
    bad = [t for t in tries.found if _overshoots(t, scale)]
    if len(tries.found) < ENOUGH or len(bad) < 0.6 * len(tries.found) or bad[-1] is not tries.found[-1]:
        return None
    return (bad[-1], tries) if _got_nowhere(tries.curve) else None


class Small(NamedTuple):
    """Updates that are too small, for a loss that is judged by them alone."""

    curve: Curve
    told: str


def too_small(run: Run) -> Small | None:
    """Updates of which a hundred times as much would still be a small step in the right direction."""
    tries = _tries(run)
    if tries is None or tries.curve is None or run.facts(Load):
        return None
    if len(tries.found) < ENOUGH or not all(_is_tiny(t) for t in tries.found):
        return None
    last = tries.found[-1]
    told = f"; on a copy, one step takes the loss of its batch from {last.loss:.6g} to {last.losses[2]:.6g}, a hundred "
    return Small(tries.curve, told + f"times that step to {last.losses[4]:.6g}")


def uphill(run: Run) -> tuple[StepTried, Tries] | None:
    """Updates that all go up the slope of the loss they were made from, and a loss that rose."""
    tries = _tries(run)
    if tries is None or tries.curve is None or len(tries.found) < ENOUGH:
        return None
    optimizer, values = optimizer_of(run), tries.curve.values
    if tries.curve.task is None and (optimizer is None or optimizer.torchs_own):
        return None  # something that is to be large, with maximize=True
    if any((t.downhill or 0.0) > -0.2 for t in tries.found) or not tries.curve.end > values[0]:
        return None
    return tries.found[-1], tries


def _tries(run: Run) -> Tries | None:
    """Of the only optimizer of a run with the only loss.

    Targets that are the model's own predictions move, as in a value network: such a loss may rise in a healthy run.
    """
    if any("training" in answered.uses for answered in run.facts(EvalForward)):
        return None
    optimizers = run.facts(Optimizer)
    if len(optimizers) > 1 or (optimizers and not optimizers[0].in_models) or len(run.curves("loss")) != 1:
        return None
    found = [t for t in run.facts(StepTried) if t.reason is None and t.passes == 1 and len(t.losses) == 5]
    curves = loss_curves(run)
    curve = curves[0] if len(curves) == 1 and len(curves[0].values) >= FEWEST else None
    known = [t for t in found if t.loss is not None and t.slope is not None]
    return Tries(known, curve) if known and len(known) == len(found) else None


def _overshoots(tried: StepTried, scale: float) -> bool:
    loss, after = tried.loss or 0.0, tried.losses[2]
    gain = max((loss - small for small in tried.losses[:2] if small is not None), default=0.0)
    if (tried.slope or 0.0) >= 0:
        return False
    return after is None or (gain > 0 and after - loss > max(0.02 * abs(loss), 0.1 * scale))


def _blows_up(tried: StepTried) -> bool:
    after = tried.losses[2]
    return (tried.slope or 0.0) < 0 and (after is None or after > 10 * abs(tried.loss or 0.0))


def _is_tiny(tried: StepTried) -> bool:
    slope, far = tried.slope or 0.0, tried.losses[4]
    return slope < 0 and far is not None and (tried.loss or 0.0) - far > -50 * slope


def _ends_high(curve: Curve | None) -> bool:
    return curve is not None and curve.end - curve.values[0] > abs(curve.values[0])


def _got_nowhere(curve: Curve | None) -> bool:
    return curve is not None and curve.values[0] - curve.end < GOT_NOWHERE * abs(curve.values[0])
