"""Loss curves as rules see them: smoothed, and compared with what guessing gives."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from statistics import mean, median

from paramedic.findings import Where
from paramedic.frozen import dataclass
from paramedic.record.facts import Backward, Labels, LossCall, Optimizer
from paramedic.record.reader import Run
from paramedic.rules.support import entropy


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One loss over the steps of a run."""

    where: Where
    steps: int
    values: tuple[float, ...]
    at: tuple[int, ...]  # the step of each value
    task: str | None  # the loss function of torch whose value it is; None for a sum of terms
    broke: bool = False  # it ended in NaN or infinity

    def where_at(self, step: int) -> Where:
        return replace(self.where, step=step)

    @property
    def first(self) -> float:
        """The typical value of the very first steps."""
        return median(self.values[:3])

    @property
    def highest(self) -> float:
        """The largest value of at least three steps."""
        return sorted(self.values)[-3]

    @property
    def usual(self) -> float:
        """The most that a single step of the second half reaches through batch noise alone."""
        late = self.values[len(self.values) // 2 :]
        return mean(late) + 6 * math.sqrt(_variance(late))

    @property
    def improved(self) -> bool:
        """Whether it fell at all, by much or at least reliably."""
        return self.improvement >= 0.02 or self.trend_down

    @property
    def start(self) -> float:
        """The typical value of the first tenth, but not of a first jump."""
        return median(self.values[: max(3, len(self.values) // 10)])

    @property
    def end(self) -> float:
        return mean(self.values[-max(3, len(self.values) // 5) :])

    @property
    def improvement(self) -> float:
        """How much of the first value is gone at the end; the better of the first value and the first tenth counts."""
        first = max(self.start, mean(self.values[:3]))
        return (first - self.end) / abs(first) if first else 0.0

    @property
    def trend_down(self) -> bool:
        """Whether the second half is reliably lower than the first, however little."""
        half = len(self.values) // 2
        return mean(self.values[:half]) - mean(self.values[half:]) > 4 * self.doubt

    @property
    def doubt(self) -> float:
        """The standard error of the difference between the two halves: what batch noise can hide."""
        half = len(self.values) // 2
        first, second = self.values[:half], self.values[half:]
        return math.sqrt(_variance(first) / len(first) + _variance(second) / len(second))


def _variance(values: tuple[float, ...]) -> float:
    centre = mean(values)
    return sum((value - centre) ** 2 for value in values) / max(len(values) - 1, 1)


def loss_curves(run: Run) -> list[Curve]:
    """The curves of all backward() calls that give a single finite number per step."""
    calls = {(e.where.file, e.where.line): e for e in run.facts(Backward)}
    functions: dict[tuple[str | None, int | None], set[str | None]] = {}  # a helper may take losses of all kinds
    for each in run.facts(Backward):
        functions.setdefault((each.where.file, each.where.line), set()).add(each.function)
    curves = []
    for place, recorded in run.curves("loss").items():
        file, _, line = place.rpartition(":")
        event = calls.get((file, int(line)) if line.isdigit() else (None, None))
        points = [(step, value) for step, value in recorded if math.isfinite(value)]
        if event is None or len(points) < 6:
            continue
        curve = Curve(
            where=event.where,
            steps=points[-1][0] - points[0][0] + 1,
            values=tuple(value for _, value in points),
            at=tuple(step for step, _ in points),
            task=event.function if len(functions[event.where.file, event.where.line]) == 1 else None,
            broke=not math.isfinite(recorded[-1][1]),
        )
        curves.append(_last_phase(run, curve))
    return curves


def _last_phase(run: Run, curve: Curve) -> Curve:
    """The part of a curve since an optimizer with other parameters started.

    What it trains is another task or another model, whose loss starts over.
    """
    held: set[str] = set()
    begins = 0
    for optimizer in sorted(run.facts(Optimizer), key=lambda o: o.step):
        names = {name for group in optimizer.groups for name in group.parameters}
        if held and not names <= held:
            begins = optimizer.step
        held |= names
    kept = [i for i, step in enumerate(curve.at) if step >= begins]
    if len(kept) in (0, len(curve.at)):
        return curve
    at, values = tuple(curve.at[i] for i in kept), tuple(curve.values[i] for i in kept)
    return replace(curve, at=at, values=values, steps=at[-1] - at[0] + 1)


def non_finite_steps(run: Run) -> list[int]:
    """The steps at which some loss was NaN or infinite."""
    curves = run.curves("loss").values()
    return sorted({step for points in curves for step, value in points if not math.isfinite(value)})


def steps_lost(run: Run, since: int) -> int:
    """How many steps from this one on had a bad loss. Of a long stretch of them the record keeps only some."""
    return max((_lost(points, since) for points in run.curves("loss").values()), default=0)


def _lost(points: Sequence[tuple[int, float]], since: int) -> int:
    count, before = 0, None  # the bad step right before
    for step, value in points:
        bad = step >= since and not math.isfinite(value)
        count += (1 if before is None else step - before) if bad else 0
        before = step if bad else None
    return count


def label_prior(run: Run, since: int = 0) -> float | None:
    """The cross-entropy of a model that knows only how often each class occurs, if the loss is a cross-entropy."""
    functions = [event for event in run.facts(LossCall, phase="train") if event.step >= since]
    names = {event.function for event in run.facts(Backward) if event.step >= since}
    if not names or not names <= {
        "cross_entropy",
        "nll_loss",
        "binary_cross_entropy",
        "binary_cross_entropy_with_logits",
    }:
        return None
    if any(call.reduction != "mean" or call.weighted for call in functions):
        return None
    seen: Counter[int] = Counter()
    for event in run.facts(Labels, phase="train"):
        if event.step >= since:
            seen.update({int(label): count for label, count in event.counts.items()})
    return entropy(seen.values()) if len(seen) > 1 else None
