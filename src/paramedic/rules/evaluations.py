"""Losses of evaluations, beside the training step they were made at."""

from __future__ import annotations

import math
from collections import defaultdict
from statistics import mean

from paramedic.record.facts import LossCall
from paramedic.record.reader import Run


def evaluations(run: Run, function: str | None) -> list[list[tuple[int, float]]]:
    """For each line that evaluates with this loss function: (step, mean over its batches), in order."""
    lines = {call.line for call in run.facts(LossCall, phase="eval") if call.function == function}
    found = []
    for name in run.series_names:
        kind, _, line = name.partition(":")
        if kind != "eval_loss" or line not in lines:
            continue
        by_step: dict[int, list[float]] = defaultdict(list)
        for step, value in run.series(name):
            by_step[step].append(value)
        points = [(step, mean(values)) for step, values in sorted(by_step.items())]
        if all(math.isfinite(value) for _, value in points):
            found.append(points)
    return found
