"""What the outcome of each experiment means, in half a line."""

from __future__ import annotations

from collections.abc import Callable

from paramedic.record.facts import Optimizer
from paramedic.rules.experiments import Lab, Tried
from paramedic.rules.loss_terms import number_of, rest
from paramedic.rules.standing import evaluated_better

NOTHING_CHANGED = "changed nothing: the script does not use it"


def meaning(lab: Lab, name: str) -> str:
    """What its outcome shows."""
    tried = lab.tried[name]
    if tried.data.status == "not applied":
        return f"could not be tried: {tried.data.reason}"
    if name == "simple-models":
        return _simple_models(lab, tried)
    if not tried.ran:
        return f"{tried.data.status}: {tried.data.reason}" if tried.finite else "the loss is no longer finite"
    if name == "baseline":
        return _baseline(lab)
    if lab.get(name) is None:
        unused = name == "zeroed-inputs"
        return "the very same losses: the inputs do not reach them" if unused else NOTHING_CHANGED
    special: dict[str, Callable[[], str]] = {
        "permuted-labels": lambda: _control(lab, tried, "the labels"),
        "zeroed-inputs": lambda: _control(lab, tried, "the inputs"),
        "one-batch": lambda: _able(lab.learns_one_batch, "it overfits the batch", "it cannot learn one batch"),
        "twin": lambda: _able(lab.learns_twin, "it learns the rule", "it does not learn even a simple rule"),
        "held-out": lambda: _exam(lab, tried),
        "one-batch-range": lambda: _sweep(lab, tried),
        "twin-range": lambda: _sweep(lab, tried),
        "rate-range": lambda: _sweep(lab, tried),
        "again": lambda: "identical losses" if tried.data.values == lab.base.data.values else "different losses",
    }
    if name.startswith("fold-"):
        return _exam(lab, tried)
    if (number := number_of(name)) is not None:
        return _term(lab, tried, number)
    if name.startswith(("frozen-part-", "skipped-part-")):
        return _without(lab, tried)
    if (plain := tried.noted.get("plain")) is not None:
        ends = f"the plain loss ends at {plain['last']:.3g}, guessing gives {plain['guessing']:.3g}"
        return f"that helps: {ends}" if lab.helps(name) else ends
    if name == "training-mode":
        return evaluated_better(lab) or "no metric improves clearly"
    return special[name]() if name in special else _change(lab, tried)


def _baseline(lab: Lab) -> str:
    if lab.base.exploded:
        return "the loss grows"
    return "the loss falls" if lab.base.fell else "the loss does not fall"


def _control(lab: Lab, tried: Tried, what: str) -> str:
    if lab.base.better_than(tried):
        return f"{what} matter: without them it is worse"
    if lab.base.better_than(tried, by=0.0):
        return f"{what} matter a little"
    return f"no worse without {what}"


def _able(answer: bool | None, yes: str, no: str) -> str:
    return {True: yes, False: no, None: "inconclusive"}[answer]


def _exam(lab: Lab, tried: Tried) -> str:
    if tried.exam is None:
        return "no steps were left for the held-out samples"
    return f"{tried.exam:.3g} on unseen samples"


def _sweep(lab: Lab, tried: Tried) -> str:
    factor = lab.useful_factor(tried)
    if factor is None:
        return "it does not learn at any learning rate"
    optimizer = lab.run.first(Optimizer)
    rate = max((group.lr or 0 for group in optimizer.groups), default=0) if optimizer is not None else 0
    shown = f", lr={rate * factor:.1g}" if rate else ""
    near = 0.1 < factor < 10
    return "it learns best near your rate" if near else f"it learns best at {factor:.2g} times your rate{shown}"


def _change(lab: Lab, tried: Tried) -> str:
    if lab.helps(tried.name):
        return "that helps"
    if lab.base.better_than(tried):
        return "worse"
    return "better" if tried.better_than(lab.base) else "no difference"


def _term(lab: Lab, tried: Tried, number: int) -> str:
    others = rest(tried, number)
    if others is None:
        return "the other terms were not seen"
    ways = f"the other terms go from {others[0]:.3g} to {others[1]:.3g}"
    return f"that helps: {ways}" if lab.helps(tried.name) else ways


def _without(lab: Lab, tried: Tried) -> str:
    if lab.base.better_than(tried):
        return "worse: this part does something"
    return "better without it" if tried.better_than(lab.base) else "no difference: this part learns nothing"


def _simple_models(lab: Lab, tried: Tried) -> str:
    answer = tried.answer
    if not answer.get("task"):
        return f"could not be tried: {answer.get('reason', tried.data.reason)}"
    score = f"{answer['best']} {answer['score']:.2f}, chance {answer['chance']:.2f}"
    word = {"none": "no signal found", "some": "a weak signal", "strong": "a clear signal"}[lab.signal or "some"]
    remark = "" if lab.signal == "none" else fit(answer["score"], answer["own"], answer["chance"])
    return f"{word}: {score}{remark}"


def fit(others: float, own: float, chance: float) -> str:
    """What cross-validation says about the best simple model: scores on held-out and on its own samples."""
    room = 1 - chance
    if own - others > 0.15 * room:
        return f"; it overfits ({own:.2f} on its own samples): more data or fewer features would help"
    if own < chance + 0.5 * room:
        return f"; it underfits ({own:.2f} on its own samples): a larger model may find more"
    return "; it fits"
