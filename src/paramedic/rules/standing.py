"""How well a learning script does: as well as its data allows, or is something in its way?

A loss that falls is not enough. It is compared with simple models on unseen samples, with guessing, with a linear model
in the script's own loop, and with the metrics that the script itself prints.
"""

from __future__ import annotations

from paramedic.record.facts import LossCall
from paramedic.rules.curves import loss_curves
from paramedic.rules.evaluations import mean_losses
from paramedic.rules.experiments import Lab, Tried
from paramedic.rules.own_metrics import FEWEST, improving, left_behind, metrics_of

IN_THE_WAY = ("fresh-start", "plain-optimizer", "steady-rate")  # may hold a script back that learns all the same
DECIDING = ("linear-model", *IN_THE_WAY)  # asked where nothing else shows how good the script is
AS_GOOD = 0.7  # of the skill of simple models
LITTLE = 0.25  # of the loss of guessing
CARRIED_OVER = 0.35  # of what is learnt, from training to the script's own evaluations
CARRIES_OVER = 0.6  # of the loss of guessing: what is learnt holds for samples held out from training
LATE = 0.6  # of the steps: from there on an evaluation is one of what was learnt
NO_BETTER = 1.02  # of the loss of guessing: what is learnt is worse than nothing on unseen samples
NOTHING = 0.01  # of the loss of guessing: simple models know nothing
HARDLY = 0.1  # of the loss of guessing, by which simple models are below it
LEARNT = 1.4  # times the loss reached: guessing, where something clear was learnt


def demonstrated(lab: Lab) -> str | None:
    """What shows that the script does as well as its data allows; None if nothing does."""
    known, simple = lab.skill, lab.simple_skill
    if known is not None and simple is not None and known >= AS_GOOD * simple and known > 0.02:
        return f"on unseen samples its loss is {known:.0%} below guessing, that of a simple model {simple:.0%}"
    held = lab.get("held-out")
    seen = held is not None and held.exam is not None
    unseen = held.exam if held is not None and held.exam is not None else lab.base.last
    told = seen or improving(lab.base) is not None  # a training loss alone may be memory
    if told and lab.control is not None and lab.guessing > 0 and max(lab.base.last, unseen) < LITTLE * lab.guessing:
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


def standing_still(lab: Lab) -> str | None:
    """In words: a metric that stays where it was while the loss falls a lot, far from its best value."""
    fell = lab.base.first - lab.base.last > 0.3 * abs(lab.base.first)
    for name, metric in metrics_of(lab.base, FEWEST).items() if fell else ():
        lowest, highest = min(metric.values), max(metric.values)
        if metric.higher and lowest >= 0 and highest < 0.6 and highest - lowest < 0.05:
            return f"{name} stays at {metric.values[-1]:.3g} while the loss falls"
    return None


def contradicted(lab: Lab) -> str | None:
    """In words: the script's own evaluations, which see far less than it learns of samples held out from training."""
    held, curves = lab.get("held-out"), loss_curves(lab.run)
    if (lab.skill or 0) > CARRIES_OVER and (behind := left_behind(lab.base)) is not None:
        return (
            f"{behind}, although on samples held out from its training data its loss is {lab.skill:.0%} below guessing"
        )
    if lab.control is None or lab.guessing <= 0 or len(curves) != 1 or curves[0].task is None:
        return None
    kinds = {(call.weighted, call.smoothing, len(call.target.shape)) for call in lab.run.facts(LossCall) if call.target}
    if len(kinds) != 1:
        return None  # the losses of training and evaluation do not mean the same
    reached = lab.base.last if held is None or held.exam is None else held.exam
    for curve in mean_losses(lab.run, curves[0].task):
        end = min(curve.values[-2:])
        if curve.steps[-1] < LATE * lab.run.steps:
            continue
        if lab.guessing - end < CARRIED_OVER * (lab.guessing - reached) and lab.guessing > LEARNT * reached:
            return f"its own evaluation ends at a loss of {end:.3g}, guessing gives {lab.guessing:.3g}, and " + (
                f"samples held out from its training data {reached:.3g}"
                if held is not None and held.exam is not None
                else f"its training {reached:.3g}"
            )
    return None


def untold(lab: Lab) -> str | None:
    """In words: the script is able to learn, and yet neither it nor simple models know anything of unseen samples."""
    held, simple = lab.get("held-out"), lab.simple_skill
    if lab.trouble not in ("flat", "memorises") or not (lab.learns_twin and lab.learns_one_batch):
        return None
    if held is None or held.exam is None or improving(lab.base) is not None:
        return None
    if simple is None or lab.signal in (None, "strong") or simple > HARDLY:
        return None
    if held.exam < lab.guessing * (NO_BETTER if simple > NOTHING else 1):
        return None
    return (
        f"it learns a simple rule and a single batch, but on unseen samples its loss is {held.exam:.3g}, guessing "
        f"gives {lab.guessing:.3g}, and simple models know next to nothing either"
    )


def evaluated_better(lab: Lab) -> str | None:
    """In words: a metric that is far better when the model is evaluated in training mode; the loss is the same."""
    tried = lab.get("training-mode")
    for name, metric in metrics_of(tried, FEWEST).items() if tried is not None else ():
        usual = metrics_of(lab.base, FEWEST).get(name)
        if usual is None or tried is None or tried.last > lab.base.last + 3 * (tried.noise + lab.base.noise):
            continue
        ends = zip(usual.values[-FEWEST:], metric.values[-FEWEST:], strict=True)
        gains = [after - before if metric.higher else before - after for before, after in ends]
        if min(gains) > max(0.1, 0.15 * abs(usual.values[-1])):  # every time: statistics may lag behind for a while
            return f"{name} is {metric.values[-1]:.3g} instead of {usual.values[-1]:.3g}"
    return None
