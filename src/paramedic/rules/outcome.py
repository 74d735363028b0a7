"""How a training went: the loss against what guessing gives, and how hard the optimizer pushed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import mean, median, stdev
from typing import Literal

from paramedic.frozen import dataclass
from paramedic.record.facts import LossCall, Model, Optimizer
from paramedic.record.reader import Run
from paramedic.rules import Abstain
from paramedic.rules.curves import Curve, label_prior, loss_curves

FEWEST = 60  # steps before anything is said about how training went
LEARNT = 0.1  # share of the guess that must be gone before anything counts as learnt

Word = Literal["learning", "stuck", "diverged", "collapsed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of the only loss of a run."""

    curve: Curve
    prior: float | None  # the loss of a model that knows only the targets' distribution
    word: Word

    @property
    def bad(self) -> bool:
        return self.word != "learning"

    def __str__(self) -> str:
        first, last = f"{self.curve.values[0]:.3g}", f"{self.curve.end:.3g}"
        if self.word == "diverged":
            return f"the loss grew from {first} to {self.curve.highest:.3g}"
        if self.word == "collapsed":
            return f"the loss jumped from {first} to {self.curve.highest:.3g} and ended at {last}"
        guess = f"; guessing gives {self.prior:.3g}" if self.prior is not None else ""
        return f"the loss went from {first} to {last}{guess}"


def outcome(run: Run) -> Outcome:
    """The run's outcome; abstains when its loss cannot be judged."""
    curves = loss_curves(run)
    if not curves:
        raise Abstain("the loss is not a scalar")
    if len(curves) > 1:
        raise Abstain("several losses are trained together or against each other")
    return _judged(run, curves[0])


def last_outcome(run: Run) -> Outcome:
    """The same; where one training follows another, as after a pretraining, that of the last."""
    curves = sorted(loss_curves(run), key=lambda curve: curve.at[0])
    if len(curves) < 2 or any(curve.at[-1] >= curves[-1].at[0] for curve in curves[:-1]):
        return outcome(run)
    return _judged(run, curves[-1], since=curves[-1].at[0])


def _judged(run: Run, curve: Curve, since: int = 0) -> Outcome:
    if curve.task is None:
        raise Abstain("the value of this loss means nothing by itself: it is a sum of terms, or hand-written")
    if len(curve.values) < FEWEST and not curve.broke:
        raise Abstain(f"only {len(curve.values)} steps; {FEWEST} are needed to judge the curve")
    prior = guess(run, curve, since)
    return Outcome(curve=curve, prior=prior, word=_word(curve, prior))


def _word(curve: Curve, prior: float | None) -> Word:
    reference = max(curve.first, prior or 0.0)
    if reference <= 0:
        return "learning"
    if curve.highest >= 100 * reference and (curve.broke or _ends_high(curve, reference)):
        return "diverged"
    poor = curve.end > (1 - LEARNT) * prior if prior is not None else not curve.improved
    if prior is not None and curve.start < 0.7 * prior:
        poor = poor and curve.end > curve.start  # it began with something learnt
    if poor and curve.highest >= 1.5 * reference and curve.highest > curve.usual:
        return "collapsed"
    return "stuck" if poor and (prior is None or not _still_learning(curve)) else "learning"


def _ends_high(curve: Curve, reference: float) -> bool:
    """Far above its start, and not because most of the first losses were zero, as they may be for an agent."""
    early = max(curve.values[: max(3, len(curve.values) // 10)])
    return curve.end >= 10 * reference and curve.end > 0.1 * early


def learnt(judged: Outcome) -> bool | None:
    """Whether the loss ended reliably below guessing; None if batch noise hides what little there may be to learn."""
    if judged.word != "stuck" or judged.prior is None:
        return not judged.bad
    last = judged.curve.values[-max(3, len(judged.curve.values) // 5) :]
    doubt = 3 * stdev(last) / math.sqrt(len(last))
    if judged.prior - judged.curve.end > doubt:
        return True
    return None if doubt > LEARNT / 2 * judged.prior else False


def setback(curve: Curve) -> tuple[int, float] | None:
    """The step and loss of the best stretch, if half of what had been learnt by then is lost at the end."""
    width = max(3, len(curve.values) // 5)
    starts = range(0, len(curve.values) - width + 1, max(1, width // 4))
    best, begin = min((mean(curve.values[i : i + width]), i) for i in starts)
    noise = stdev(curve.values[begin : begin + width]) + stdev(curve.values[-width:])
    lost, gained = curve.end - best, curve.start - best
    if gained < LEARNT * abs(curve.start) or lost < gained / 2 or lost < 4 * noise / math.sqrt(width):
        return None
    return curve.at[begin + width - 1], best


def _still_learning(curve: Curve) -> bool:
    return curve.trend_down and curve.improvement > 0.02


def guess(run: Run, curve: Curve, since: int = 0) -> float | None:
    """The loss of a model that knows only how often each class occurs, or the mean of each target column."""
    if curve.task != "mse_loss":
        return label_prior(run, since)
    spreads = [
        call.numbers.target_spread
        for call in run.facts(LossCall, phase="train")
        if call.function == "mse_loss" and call.values and call.reduction == "mean" and call.step >= since
    ]
    known = [value**2 for value in spreads if value > 0]
    return mean(known) if len(known) >= 3 and len(known) == len(spreads) else None


def explosion(run: Run, *, growth: float = 1e3) -> tuple[int, float, float] | None:
    """The outputs grew enormously while still finite, and then the loss became non-finite: (step, before, after)."""
    losses = list(run.curves("loss").values())
    broken = [step for series in losses for step, value in series if not math.isfinite(value)]
    if len(losses) != 1 or not broken:
        return None
    sizes = [
        (call.step, max(abs(call.numbers.input_min), abs(call.numbers.input_max)))
        for call in run.facts(LossCall, phase="train")
        if call.values and not call.numbers.input_nan and not call.numbers.input_inf
    ]
    sizes = [(step, size) for step, size in sizes if step <= broken[0]]
    if len(sizes) < 2 or not sizes[0][1] > 0 or sizes[-1][1] < growth * sizes[0][1]:
        return None
    return sizes[-1][0], sizes[0][1], sizes[-1][1]


# How hard the optimizer pushes ----------------------------------------------------------------------------------


def pushes(run: Run) -> list[tuple[int, float]]:
    """By sampled step: the typical size of an update relative to the weight it changes, over the matrices."""
    weights = {sample.step: sample.summaries for sample in run.samples("weight")}
    matrices = _started(run)
    found = []
    for sample in run.samples("update"):
        before = weights.get(sample.step, {})
        ratios = [
            update.norm / before[name].norm
            for name, update in sample.summaries.items()
            if name in matrices and name in before and before[name].norm > 0 and math.isfinite(update.norm)
        ]
        if ratios:
            found.append((sample.step, median(ratios)))
    return found


def _started(run: Run) -> set[str]:
    """The matrices that started with ordinary weights: relative to one that starts at zero, any change is huge."""
    found: set[str] = set()
    first = run.samples("weight")[0].summaries if run.samples("weight") else {}
    for model in run.facts(Model):
        for p in model.parameters:
            known = first.get(p.name)
            inputs = p.numel / p.shape[0] if len(p.shape) > 1 and p.shape[0] else 0
            if known is None or (inputs and known.norm * (inputs / p.numel) ** 0.5 >= 0.1):
                found |= {p.name} if inputs else set()
    return found


def optimizer_of(run: Run) -> Optimizer | None:
    """The only optimizer of a run."""
    optimizers = run.facts(Optimizer)
    return optimizers[0] if len(optimizers) == 1 else None


def rates_of(optimizer: Optimizer) -> list[float]:
    return sorted({group.lr for group in optimizer.groups if group.lr is not None})


def finite(values: Iterable[float]) -> list[float]:
    return [value for value in values if math.isfinite(value)]
