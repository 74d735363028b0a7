"""TensorBoard event files of a run: losses, learning rates, and statistics of every parameter and output."""

from __future__ import annotations

import bisect
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paramedic.errors import ParamedicError
from paramedic.record.facts import Time
from paramedic.record.reader import Run, open_runs
from paramedic.record.samples import ROLES
from paramedic.record.summary import EDGES

if TYPE_CHECKING:
    from paramedic.record.summary import Summary

STATISTICS = ("mean", "std", "norm", "absmax", "zero_share")
SERIES = {"loss": "loss/train", "eval_loss": "loss/eval", "lr": "learning_rate", "time": "time", "memory": "memory"}


def check_installed() -> None:
    """Raises ParamedicError when TensorBoard is missing; nothing is imported to find out."""
    if importlib.util.find_spec("tensorboard") is None:
        raise ParamedicError(
            "TensorBoard is not installed",
            expected="the package tensorboard, for writing its event files",
            fix="pip install 'paramedic[tensorboard]'",
        )


def write(record: Path, folder: Path) -> Path:
    """Write the event file of a run's first process (rank 0) into the folder. Returns the folder."""
    check_installed()
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    runs = open_runs(record)
    run = next((run for run in runs if run.steps), runs[0])
    moments = _Moments(run)
    writer = EventFileWriter(str(folder))
    try:
        for step, value in _values(run):
            writer.add_event(_event(step, moments.at(step), value))
    finally:
        writer.close()
    return folder


def _event(step: int, time: float, value: Any) -> Any:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary as Values

    return Event(wall_time=time, step=step, summary=Values(value=[value]))


def _values(run: Run) -> Iterator[tuple[int, Any]]:
    from tensorboard.compat.proto.summary_pb2 import Summary as Values

    for name in run.series_names:
        kind, _, label = name.partition(":")
        tag = "/".join(part for part in (SERIES.get(kind, kind), label) if part)
        for step, value in run.series(name):
            yield step, Values.Value(tag=tag, simple_value=value)
    for role in ROLES:
        for sample in run.samples(role):
            for name, summary in sample.summaries.items():
                for statistic in STATISTICS:
                    value = getattr(summary, statistic)
                    if value is not None:
                        yield sample.step, Values.Value(tag=f"{role}_{statistic}/{name}", simple_value=value)
                if any(summary.histogram[1:]):
                    yield sample.step, Values.Value(tag=f"{role}_log2/{name}", histo=_histogram(summary))


def _histogram(summary: Summary) -> Any:
    """Magnitudes as powers of two: on TensorBoard's axis -10 stands for 2**-10. Zeros have no place there."""
    from tensorboard.compat.proto.summary_pb2 import Summary as Values

    limits = (*EDGES, 2 * EDGES[-1])
    starts = (2 * EDGES[0], *EDGES)
    bins = [(start, limit, count) for start, limit, count in zip(starts, limits, summary.histogram[1:], strict=True)]
    while not bins[0][2]:
        bins.pop(0)
    while not bins[-1][2]:
        bins.pop()
    value = Values.Value()
    histogram = value.histo
    histogram.min, histogram.max = bins[0][0], bins[-1][1]
    histogram.num = sum(count for _, _, count in bins)
    histogram.sum = sum(count * (start + limit) / 2 for start, limit, count in bins)
    histogram.sum_squares = sum(count * ((start + limit) / 2) ** 2 for start, limit, count in bins)
    histogram.bucket_limit.extend([bins[0][0], *(limit for _, limit, _ in bins)])
    histogram.bucket.extend([0, *(count for _, _, count in bins)])
    return histogram


class _Moments:
    """When each step happened, as far as it is known: facts carry their time, points only their step."""

    def __init__(self, run: Run) -> None:
        known = {0: float(run.meta.get("started", 0.0))}
        known |= {window.last_step: window.time for window in run.facts(Time)}
        self._steps = sorted(known)
        self._times = [known[step] for step in self._steps]

    def at(self, step: int) -> float:
        after = bisect.bisect_left(self._steps, step)
        if after >= len(self._steps):
            return self._times[-1]
        if after == 0:
            return self._times[0]
        before = after - 1
        share = (step - self._steps[before]) / (self._steps[after] - self._steps[before])
        return self._times[before] + share * (self._times[after] - self._times[before])
