"""Losses of evaluations, beside the training step they were made at."""

from __future__ import annotations

import math
from collections import defaultdict
from statistics import mean

from paramedic.record.reader import Run


def evaluations(run: Run, function: str | None) -> list[list[tuple[int, float]]]:
    """For each line that evaluates with this loss function: (step, mean over its batches), in order."""
    found = []
    for name in run.series_names:
        kind, _, rest = name.partition(":")
        if kind != "evaluation" or rest.partition(":")[0] != function:
            continue
        by_step: dict[int, list[float]] = defaultdict(list)
        for step, value in run.series(name):
            by_step[step].append(value)
        points = [(step, mean(values)) for step, values in sorted(by_step.items())]
        if all(math.isfinite(value) for _, value in points):
            found.append(points)
    return found
