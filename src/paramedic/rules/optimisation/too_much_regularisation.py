"""PM217."""

from collections.abc import Iterator, Mapping
from statistics import median

from paramedic.record.facts import Group, Model, Optimizer, Trial
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.curves import loss_curves
from paramedic.rules.experiments import CLEAR_SKILL, Lab, Tried, at
from paramedic.rules.outcome import outcome
from paramedic.rules.standing import far_better

_ADDED_TO_GRADIENTS = ("Adam", "NAdam", "RAdam", "Adamax", "Adagrad", "RMSprop", "SGD")
MUCH_LEFT = 0.1  # of the first loss: where less is left, gradients are small anyway
FEWEST = 3  # samples of a matrix
_DECOUPLED = ("AdamW", "NAdamW", "Lion", "SGDW")


@rule(
    "PM217",
    "too-much-regularisation",
    severity="warning",
    causes=["PM201", "PM203", "PM205", "PM206", "PM207", "PM209", "PM210", "PM213", "PM214"],
)
def check(
    run: Run, *, pull: float = 0.01, left: float = 0.05, strong: float = 0.02, times: float = 1.5
) -> Iterator[Finding]:
    """Weight decay or dropout keeps the model from learning.

    Shown by an experiment without them (`paramedic diagnose`); or, in a plain run, by weight decay that has shrunk
    nearly every weight matrix to nothing while the model learnt nothing, or that is added to gradients and many times
    as large as them while there is still much to learn.

    ## Why it hurts
    Weight decay that is stronger than the gradient pulls all weights to zero, and dropout near 1 leaves too little to
    learn from: the model never beats guessing.

    ## What to try first
    Weight decay of 0.01 with AdamW, 1e-4 with SGD; dropout of 0.1 to 0.5. Or neither, until the model learns. Adam adds
    the decay to the gradient, which AdamW does not: a value meant for AdamW is far too large for Adam.

    ## When this is wrong
    Reported only if the unchanged script learns nothing at all in the same number of steps; or if the decay outweighs
    the gradients of most weight matrices. At the end of a training gradients may be small: those steps do not count.

    ## Options
    `pull`: the share of a weight that the decay alone removes in a step, above which it counts as strong; `left`: the
    share of every weight matrix that is left at the end; `strong`: the least decay that may outweigh gradients, and
    `times` how many times as large as them its share of the update must be.
    """
    outweighing = list(_outweighing(run, strong, times))
    yield from outweighing
    if outweighing:
        return
    if not run.facts(Trial):
        yield from _decayed_away(run, pull, left)
        return
    lab = Lab(run)
    tried = lab.get("no-regularisation")
    if tried is None:
        raise Abstain("there was no dropout or weight decay to remove, or no need to")
    if not lab.helps("no-regularisation") or lab.signal == "none" or not _held_back(lab, tried):
        return
    optimizer = run.first(Optimizer)
    decays = [g.weight_decay or 0 for g in optimizer.groups] if optimizer is not None else []
    strong = max(decays, default=0.0)
    named = f"weight decay of {strong:g}" if strong >= 0.1 else "dropout, or the weight decay,"
    yield Finding(
        what=f"without dropout and weight decay the loss ends at {tried.last:.3g}, with them at {lab.base.last:.3g}",
        why=f"the {named} keeps the model at the loss of guessing ({lab.guessing:.3g})",
        remedy="lower them: weight_decay=0.01 or less, dropout of 0.1 to 0.5",
        where=at(optimizer),
        evidence=(lab.base.evidence(), tried.evidence()),
        confidence=0.9,
    )


def _held_back(lab: Lab, tried: Tried) -> bool:
    """More is memorised without a penalty: where something is learnt, simple models must know that there is more."""
    if lab.trouble == "unclear":
        return far_better(lab, tried) and (lab.simple_skill or 0) >= CLEAR_SKILL
    return lab.trouble in ("flat", "diverges", "lags")


def _decayed_away(run: Run, pull: float, left: float) -> Iterator[Finding]:
    optimizers, samples = run.facts(Optimizer), run.samples("weight")
    if len(optimizers) != 1 or len(samples) < 2 or not optimizers[0].torchs_own:
        raise Abstain("this needs a single torch optimizer and sampled weights")
    result, optimizer = outcome(run), optimizers[0]
    strongest = max((_pull(optimizer, group) for group in optimizer.groups), default=0.0)
    if not result.bad or strongest < pull:
        return
    first, last = samples[0].summaries, samples[-1].summaries
    matrices = {p.name for model in run.facts(Model) for p in model.parameters if len(p.shape) > 1}
    shares = [last[n].norm / first[n].norm for n in matrices if n in first and n in last and first[n].norm > 0]
    if not shares or not max(shares) <= left:
        return
    decay = max(group.weight_decay for group in optimizer.groups)
    yield Finding(
        what=f"weight decay of {decay:g} has pulled every weight to 0: at most {max(shares):.1%} of a matrix is left "
        f"at step {samples[-1].step:,}",
        why=f"each step the decay removes more than the gradient adds; {result}",
        remedy="lower it: weight_decay=0.01 with AdamW, 1e-4 with SGD or Adam",
        where=optimizer.where,
        evidence=(
            Evidence(name="weight_decay", value=decay, limit="≤ 0.01"),
            Evidence(name="share_of_weights_left", value=round(max(shares), 4), limit=f"> {left:g}"),
        ),
        confidence=0.93,
    )


def _outweighing(run: Run, strong: float, times: float) -> Iterator[Finding]:
    """Decay that is a part of the gradient, and most of it."""
    optimizers = run.facts(Optimizer)
    if len(optimizers) != 1 or not optimizers[0].torchs_own or optimizers[0].class_ not in _ADDED_TO_GRADIENTS:
        return
    optimizer = optimizers[0]
    decays = {name: g.weight_decay for g in optimizer.groups if not g.decoupled for name in g.parameters}
    decay = max(decays.values(), default=0.0)
    if decay < strong:
        return
    shares = _shares_of_decay(run, decays)
    outweighed = [share for share in shares if share > times]
    if not shares or len(outweighed) <= len(shares) / 2:
        return
    typical = median(shares)
    yield Finding(
        what=f"{optimizer.class_} adds the weight decay of {decay:g} to the gradients: it is {typical:.2g} times as "
        f"large as they are, and outweighs them in {len(outweighed)} of {len(shares)} weight matrices",
        why="so each update mostly pulls the weights to 0, and the data hardly matter",
        remedy=f"use torch.optim.AdamW(…, weight_decay={decay:g}), which keeps the decay apart, or weight_decay=1e-4"
        if optimizer.class_ == "Adam"
        else "lower it: weight_decay=1e-4",
        where=optimizer.where,
        evidence=(
            Evidence(name="weight_decay", value=decay, limit="about 1e-4"),
            Evidence(name="decay_to_gradient", value=round(typical, 2), limit=f"≤ {times:g}"),
        ),
        confidence=0.9,
    )


def _shares_of_decay(run: Run, decays: Mapping[str, float]) -> list[float]:
    """Of each weight matrix: its decay in units of its gradient, typically, while the loss is still high."""
    curves = loss_curves(run)
    if len(curves) != 1 or not curves[0].first > 0:
        return []
    losses = dict(zip(curves[0].at, curves[0].values, strict=True))
    matrices = {p.name for model in run.facts(Model) for p in model.parameters if len(p.shape) > 1}
    weights = {sample.step: sample.summaries for sample in run.samples("weight")}
    found: dict[str, list[float]] = {}
    for sample in run.samples("gradient")[1:]:
        if losses.get(sample.step, curves[0].first) < MUCH_LEFT * curves[0].first:
            continue
        for name, gradient in sample.summaries.items():
            weight = weights.get(sample.step, {}).get(name)
            if name in matrices and weight is not None and gradient.norm > 0:
                found.setdefault(name, []).append(decays.get(name, 0.0) * weight.norm / gradient.norm)
    return [median(shares) for shares in found.values() if len(shares) >= FEWEST]


def _pull(optimizer: Optimizer, group: Group) -> float:
    """The share of a weight that the decay removes in a step; in Adam it is part of the gradient and scaled with it."""
    decay, rate = group.weight_decay or 0.0, group.lr or 0.0
    if optimizer.class_ in _DECOUPLED:
        return decay * rate
    if optimizer.class_ == "SGD":
        return decay * rate / (1 - min(group.momentum or 0.0, 0.99))
    return decay if decay >= 0.1 else 0.0
