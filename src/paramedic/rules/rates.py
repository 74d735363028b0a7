"""Learning rates that experiments have shown to be too high or too low."""

from __future__ import annotations

from statistics import median

from paramedic.record.facts import Trial
from paramedic.rules import Abstain, Evidence, Finding, Run
from paramedic.rules.experiments import Lab, Tried, at
from paramedic.rules.outcome import optimizer_of, pushes, rates_of

FEWEST_SAMPLED = 5  # updates


def lower_helps(run: Run) -> Finding | None:
    """With smaller steps the script learns."""
    lab = _lab(run)
    if lab is None or lab.trouble not in ("flat", "diverges", "lags"):
        return None
    down = lab.get("lr-down")
    if down is not None and lab.helps("lr-down"):
        return _finding(lab, down, 0.1)
    sweep = lab.get("one-batch-range")
    if (
        sweep is not None
        and lab.learns_one_batch is not True
        and (factor := lab.useful_factor(sweep))
        and factor <= 0.1
    ):
        return _finding(lab, sweep, factor)
    return None


def higher_helps(run: Run) -> Finding | None:
    """With larger steps the script learns."""
    lab = _lab(run)
    if lab is None or lab.trouble not in ("flat", "unclear", "lags") or lab.learns_twin or warming_up(run):
        return None
    up = lab.get("lr-up")
    if up is not None and lab.helps("lr-up"):
        return _finding(lab, up, 10)
    sweep = lab.get("one-batch-range")
    if sweep is not None and lab.learns_one_batch is False and (factor := lab.useful_factor(sweep)) and factor >= 10:
        return _finding(lab, sweep, factor)
    return None


def way_of_weights(run: Run) -> float | None:
    """How far all updates together could have moved the weights, in units of their size; None if that was not seen."""
    ratios = [ratio for _, ratio in pushes(run)]
    return median(ratios) * run.steps if len(ratios) >= FEWEST_SAMPLED else None


def _lab(run: Run) -> Lab | None:
    if not run.facts(Trial):
        return None
    try:
        lab = Lab(run)
    except Abstain:
        return None
    if lab.rebuilt is not None:
        return None  # what is built anew all the time has no rate that could be too low
    return None if lab.signal == "none" else lab


def warming_up(run: Run) -> bool:
    """Whether the rate was still rising: then a low one is intended."""
    return any(len(rates) > 1 and rates[-1][1] > 1.5 * rates[0][1] for rates in run.curves("lr").values())


def _finding(lab: Lab, tried: Tried, factor: float) -> Finding:
    optimizer = optimizer_of(lab.run)
    rate = max(rates_of(optimizer), default=0.0) if optimizer is not None else 0.0
    way, other = ("too large", "smaller") if factor < 1 else ("too small", "larger")
    times = f"a {'tenth' if factor == 0.1 else f'{1 / factor:.0f}th'}" if factor < 1 else f"{factor:.0f} times"
    shown = f"{rate:g} is {way}: " if rate else ""
    end = tried.lowest if "range" in tried.name else tried.last
    return Finding(
        what=f"with {times} of the learning rate the loss falls to {end:.3g}; with yours it ends at "
        + (f"{lab.base.last:.3g}" if lab.base.finite else "a non-finite value"),
        why=f"{shown}nothing else was changed; guessing gives {lab.guessing:.3g}",
        remedy=f"lr={rate * factor:.3g}, then {other} still if that helps" if rate else f"a {other} learning rate",
        where=at(optimizer),
        evidence=(lab.base.evidence(), tried.evidence(), Evidence(name="learning rate", value=rate)),
        confidence=0.92,
    )
