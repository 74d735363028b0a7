"""Losses of evaluations, with the training step at which they were computed."""

from __future__ import annotations

import math
from collections import defaultdict

from paramedic.findings import LossCurve
from paramedic.record.facts import LossCall
from paramedic.record.reader import Run


def evaluation_curves(run: Run) -> list[LossCurve]:
    """For each line that evaluates a loss: its mean over the batches of an evaluation, which all have one step."""
    found = []
    for line, points in run.curves("eval_loss").items():
        by_step: dict[int, list[float]] = defaultdict(list)
        for step, value in points:
            by_step[step].append(value)
        steps = tuple(sorted(by_step))
        found.append(LossCurve(label=line, steps=steps, values=tuple(_mean(by_step[step]) for step in steps)))
    return found


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)  # statistics.mean takes forty times as long, for digits that no loss has


def mean_losses(run: Run, function: str | None = None) -> list[LossCurve]:
    """The curves of losses that are means over their batch, as those of training: sums cannot be compared with them."""
    calls = [call for call in run.facts(LossCall, phase="eval") if function in (None, call.function)]
    means = {call.line for call in calls} - {call.line for call in calls if call.reduction != "mean"}
    return [curve for curve in evaluation_curves(run) if curve.label in means]


def evaluations(run: Run, function: str | None) -> list[list[tuple[int, float]]]:
    """For each line that evaluates with this loss function: (step, mean over its batches), in order."""
    lines = {call.line for call in run.facts(LossCall, phase="eval") if call.function == function}
    return [
        list(zip(curve.steps, curve.values, strict=True))
        for curve in evaluation_curves(run)
        if curve.label in lines and all(map(math.isfinite, curve.values))
    ]
