"""The numbers of a run over its steps: which charts there are, and what each of them shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from paramedic.findings import LossCurve
from paramedic.record.reader import Run
from paramedic.reports import chart, layers
from paramedic.reports.chart import Chart, Level
from paramedic.rules.growth import GB, MB

OWN = {"loss", "eval_loss", "lr", "time", "memory", "gradient_norm", "norm_before_clip", "skipped_at_scale"}
USUAL_UPDATE = 1e-3  # a rule of thumb of practitioners; drawn in for orientation, never judged
MOST_LOGGED = 24


def charts(run: Run) -> Iterator[Chart]:
    """Everything but the loss, which belongs to the diagnosis."""
    drawn = (_rates(run), _norms(run), _updates(run), _step_time(run), _memory(run.ranks), *_logged(run))
    yield from (found for found in drawn if found is not None)


def curve_of(run: Run, name: str, label: str, *, unit: float = 1.0) -> LossCurve:
    points = run.series(name)
    return LossCurve(label=label, steps=tuple(s for s, _ in points), values=tuple(v / unit for _, v in points))


def rates(run: Run) -> list[LossCurve]:
    """The learning rates. One is recorded when it changes, so the last value holds to the end."""
    names = [name for name in run.series_names if name.startswith("lr:")]
    curves = []
    for name in names:
        rate = curve_of(run, name, "learning rate" if len(names) == 1 else f"optimizer {name[3:]}")
        if rate.steps and run.steps - 1 > rate.steps[-1]:
            rate = replace(rate, steps=(*rate.steps, run.steps - 1), values=(*rate.values, rate.values[-1]))
        curves.append(rate)
    return curves


def _rates(run: Run) -> Chart | None:
    caption = "Of the first parameter group"
    return chart.draw(rates(run), key="rate", title="Learning rate", caption=caption, tall=False)


def _norms(run: Run) -> Chart | None:
    labels = {"gradient_norm": "gradient norm", "norm_before_clip": "before clipping"}
    curves = [curve_of(run, name, label) for name, label in labels.items() if name in run.series_names]
    return chart.draw(
        curves, key="norm", title="Gradient norm", caption="Of all gradients together, at sampled steps", tall=False
    )


def _updates(run: Run) -> Chart | None:
    return chart.draw(
        layers.spread(layers.update_ratios(run)),
        key="ratio",
        title="Update ratio",
        caption="Size of an update relative to its weight, over all tensors",
        levels=[Level(value=USUAL_UPDATE, label="0.001, often about right")],
        tall=False,
    )


def _step_time(run: Run) -> Chart | None:
    curves = [curve_of(run, "time:step", "time per step (ms)", unit=1e-3)] if "time:step" in run.series_names else []
    return chart.draw(
        curves,
        key="time",
        title="Time per step (ms)",
        caption="Steps that were examined are slower",
        tall=False,
    )


def _memory(ranks: Iterable[Run]) -> Chart | None:
    """Resident memory of every process, and what each device's allocator holds."""
    found = [
        (run, name)
        for run in ranks
        for name in run.series_names
        if name.startswith(("memory:rss:", "memory:allocated:"))
    ]
    highest = max((value for run, name in found for _, value in run.series(name)), default=0.0)
    unit, word = (GB, "GB") if highest >= GB else (MB, "MB")
    several = len({run.rank for run, _ in found}) > 1
    curves = []
    for run, name in found:
        _, what, who = name.split(":", 2)
        label = ("main process" if who == "main" else who) if what == "rss" else f"{who}, allocated"
        curves.append(curve_of(run, name, f"rank {run.rank}: {label}" if several else label, unit=unit))
    return chart.draw(
        curves, key="memory", title=f"Memory ({word})", caption="Resident, per process and device", tall=False
    )


def _logged(run: Run) -> Iterator[Chart | None]:
    """What the script itself has logged: one chart for each name."""
    names = [name for name in run.series_names if name.partition(":")[0] not in OWN]
    for index, name in enumerate(names[:MOST_LOGGED]):
        kind, _, rest = name.partition(":")
        label = rest or kind
        yield chart.draw(
            [curve_of(run, name, label)], key=f"logged-{index}", title=label, caption="Logged by the script", tall=False
        )
