"""TensorBoard event files of a run: losses, learning rates, and statistics of every parameter and output."""

from __future__ import annotations

import bisect
import importlib.util
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paramedic.errors import ParamedicError
from paramedic.paths import open_private, write_private
from paramedic.record.facts import Time
from paramedic.record.reader import Run, reading, trained
from paramedic.record.samples import ROLES
from paramedic.record.summary import EDGES

if TYPE_CHECKING:
    from paramedic.record.summary import Summary

POSITION, LOCK = "tensorboard.json", "tensorboard.lock"  # in the run's folder
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
    """Write what the event files in the folder do not have yet of a run's first process. Returns the folder."""
    with Board(record, folder) as board:
        board.more()
    return folder


class Board:
    """Event files that grow with the record. How far they are is noted beside it, for whoever goes on with them."""

    def __init__(self, record: Path, folder: Path) -> None:
        check_installed()
        self._record, self._folder = record, folder
        self._writer: Any = None

    def more(self) -> None:
        """Add what was recorded since the last time, by this process or another."""
        with _alone(self._record / LOCK), reading(self._record) as runs:
            run = trained(runs)[0]
            done = self._done(run)
            moments = _Moments(run)
            for step, value in _values(run, done):
                self._events().add_event(_event(step, moments.at(step), value))
            self._events().flush()
            with suppress(OSError):  # a record that may only be read: then the next one begins anew
                write_private(self._record / POSITION, json.dumps(done))

    def _events(self) -> Any:
        if self._writer is None:
            from tensorboard.summary.writer.event_file_writer import EventFileWriter

            self._writer = EventFileWriter(str(self._folder))
        return self._writer

    def _done(self, run: Run) -> dict[str, Any]:
        """The last rows that were written; from the beginning where these are other files or another process."""
        start = {"folder": str(self._folder.absolute()), "process": run.path.name, "points": 0, "samples": 0}
        try:
            done: dict[str, Any] = json.loads((self._record / POSITION).read_text(encoding="utf-8"))
            same = all(done[key] == start[key] for key in ("folder", "process"))
            known = all(isinstance(done[key], int) for key in ("points", "samples"))
        except (OSError, ValueError, KeyError, TypeError):
            return start
        return done if same and known and any(self._folder.glob("events.out.tfevents*")) else start

    def __enter__(self) -> Board:
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """One writer at a time: the process beside the run, or the run itself at its end."""
    with ExitStack() as held:
        with suppress(OSError, ImportError):  # a record that may only be read; Windows, where nobody else writes
            import fcntl

            fcntl.flock(held.enter_context(open_private(lock, "w")), fcntl.LOCK_EX)
        yield


def _event(step: int, time: float, value: Any) -> Any:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary as Values

    return Event(wall_time=time, step=step, summary=Values(value=[value]))


def _values(run: Run, done: dict[str, Any]) -> Iterator[tuple[int, Any]]:
    """Everything after `done`, which moves along."""
    from tensorboard.compat.proto.summary_pb2 import Summary as Values

    for row, name, step, number in run.points_after(done["points"]):
        kind, _, label = name.partition(":")
        tag = "/".join(part for part in (SERIES.get(kind, kind), label) if part)
        yield step, Values.Value(tag=tag, simple_value=number)
        done["points"] = row
    for row, sample in run.samples_after(done["samples"]):
        role, done["samples"] = sample.role, row
        if role in ROLES:
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
