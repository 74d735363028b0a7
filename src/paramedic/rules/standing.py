"""How well a learning script does: as well as its data allows, or is something in its way?

A loss that falls is not enough. It is compared with simple models on unseen samples, with guessing, with a linear model
in the script's own loop, and with the metrics that the script itself prints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paramedic.rules.experiments import Lab, Tried

IN_THE_WAY = ("fresh-start", "plain-optimizer", "steady-rate")  # may hold a script back that learns all the same
DECIDING = ("linear-model", *IN_THE_WAY)  # asked where nothing else shows how good the script is
AS_GOOD = 0.7  # of the skill of simple models
LITTLE = 0.25  # of the loss of guessing
FEWEST_READINGS = 3


def demonstrated(lab: Lab) -> str | None:
    """What shows that the script does as well as its data allows; None if nothing does."""
    known, simple = lab.skill, lab.simple_skill
    if known is not None and simple is not None and known >= AS_GOOD * simple and known > 0.02:
        return f"on unseen samples its loss is {known:.0%} below guessing, that of a simple model {simple:.0%}"
    held = lab.get("held-out")
    unseen = held.exam if held is not None and held.exam is not None else lab.base.last
    if lab.control is not None and lab.guessing > 0 and max(lab.base.last, unseen) < LITTLE * lab.guessing:
        return f"its loss is {1 - max(unseen, lab.base.last) / lab.guessing:.0%} below guessing"
    linear = lab.get("linear-model")
    if held is not None and held.exam is not None and held.exam >= lab.guessing:
        return None  # both may have learnt their samples by heart
    if linear is not None and linear.finite and lab.control is not None and lab.beats_guessing(lab.base, by=0.0):
        gain, most = lab.guessing - lab.base.last, lab.guessing - linear.last
        if gain >= AS_GOOD * most and not linear.better_than(lab.base, by=0.1):
            return f"it ends at {lab.base.last:.3g}, a linear model in its own loop at {linear.last:.3g}"
    return None


def far_better(lab: Lab, tried: Tried) -> bool:
    """Whether a change more than doubles what is learnt."""
    guessing = lab.guessing if lab.control is not None else lab.prior
    if guessing is None or not tried.better_than(lab.base, by=0.1):
        return False
    if lab.base.last > 0 > tried.last and lab.base.last < 2 * abs(tried.last):
        return False  # near zero, ratios say nothing
    return guessing - tried.last > 2 * (guessing - lab.base.last)


def improving(tried: Tried) -> str | None:
    """In words: a metric that the script prints, other than a loss, and that gets clearly better."""
    for name, (values, higher) in _metrics(tried).items():
        first, last = values[0], sum(values[-2:]) / 2
        gain = last - first if higher else first - last
        best = max(values) - values[0] if higher else values[0] - min(values)
        if gain > max(0.1, 0.15 * abs(first)) and gain > 0.6 * best:
            return f"{name} goes from {first:.3g} to {last:.3g}"
    return None


def standing_still(lab: Lab) -> str | None:
    """In words: a metric that stays where it was while the loss falls a lot, far from its best value."""
    fell = lab.base.first - lab.base.last > 0.3 * abs(lab.base.first)
    for name, (values, higher) in _metrics(lab.base).items() if fell else ():
        if higher and min(values) >= 0 and max(values) < 0.6 and max(values) - min(values) < 0.05:
            return f"{name} stays at {values[-1]:.3g} while the loss falls"
    return None


def evaluated_better(lab: Lab) -> str | None:
    """In words: a metric that is far better when the model is evaluated in training mode; the loss is the same."""
    tried = lab.get("training-mode")
    for name, (values, higher) in _metrics(tried).items() if tried is not None else ():
        usual = _metrics(lab.base).get(name)
        if usual is None or tried is None or tried.last > lab.base.last + 3 * (tried.noise + lab.base.noise):
            continue
        ends = zip(usual[0][-FEWEST_READINGS:], values[-FEWEST_READINGS:], strict=True)
        gains = [after - before if higher else before - after for before, after in ends]
        if min(gains) > max(0.1, 0.15 * abs(usual[0][-1])):  # every time: statistics may lag behind for a while
            return f"{name} is {values[-1]:.3g} instead of {usual[0][-1]:.3g}"
    return None


def _metrics(tried: Tried) -> dict[str, tuple[Sequence[float], bool]]:
    """The readings of each metric, and whether more is better."""
    printed: Mapping[str, Mapping[str, object]] = tried.noted.get("printed") or {}
    found = {}
    for name, told in printed.items():
        values = told["values"]
        if isinstance(values, Sequence) and len(values) >= FEWEST_READINGS:
            found[name] = (values, bool(told["higher"]))
    return found
