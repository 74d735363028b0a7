"""Several runs in the same charts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from paramedic.diagnosis import recorded_losses
from paramedic.findings import LossCurve
from paramedic.record.reader import Run
from paramedic.reports import chart
from paramedic.reports.chart import Chart
from paramedic.reports.series import curve_of, rates
from paramedic.rules.evaluations import evaluation_curves


def charts(runs: Mapping[str, Run]) -> Iterator[Chart]:
    """What can be compared between runs: a curve per run, named after it."""
    kinds: tuple[tuple[str, str, str, Callable[[Run], list[LossCurve]]], ...] = (
        ("loss", "Training loss", "At each backward()", lambda run: list(recorded_losses(run))),
        ("evaluation", "Evaluation loss", "Averaged over an evaluation's batches", evaluation_curves),
        ("norm", "Gradient norm", "Of all gradients together", lambda run: _series(run, "gradient_norm")),
        ("rate", "Learning rate", "Of the first parameter group", rates),
        ("time", "Time per step (s)", "Steps that were examined are slower", lambda run: _series(run, "time:step")),
    )
    for key, title, caption, of in kinds:
        curves = [replace(curve, label=_label(name, curve, found)) for name, run in runs.items()
                  for found in [of(run)] for curve in found]  # fmt: skip
        drawn = chart.draw(curves, key=key, title=title, caption=caption, tall=key == "loss")
        if drawn is not None:
            yield drawn


def _series(run: Run, prefix: str) -> list[LossCurve]:
    return [curve_of(run, name, name) for name in run.series_names if name.startswith(prefix)]


def _label(run: str, curve: LossCurve, among: list[LossCurve]) -> str:
    return run if len(among) == 1 else f"{run}: {curve.label}"
