"""Where the time of a run went, as rules and reports see it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from statistics import median

from paramedic.findings import TimeShare, Where
from paramedic.frozen import dataclass
from paramedic.record.facts import Epoch, LineSample, Time
from paramedic.record.reader import Run

CROWDED = 2.0  # threads that want to run, per processor: twice as many as can
PARTS = ("data", "to_device", "forward", "backward", "optimizer", "evaluation", "other")
FEWEST = 5  # steps that say anything about the others


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """The parts of some steps, in seconds."""

    steps: int
    seconds: float
    parts: Mapping[str, float]

    @property
    def training(self) -> float:
        """Without evaluations."""
        return self.seconds - self.parts.get("evaluation", 0.0)

    def share(self, part: str) -> float:
        return self.parts.get(part, 0.0) / self.training if self.training > 0 else 0.0


def add_up(windows: Iterable[Time]) -> Times:
    parts: Counter[str] = Counter()
    steps, seconds = 0, 0.0
    for window in windows:
        parts.update(window.parts)
        steps += window.steps
        seconds += window.seconds
    return Times(steps=steps, seconds=seconds, parts=parts)


def times(run: Run) -> Times:
    """Of the steps that were not examined, because examining slows them down; of all steps if there are few."""
    windows = run.facts(Time)
    ordinary = add_up(window for window in windows if not window.examined)
    return ordinary if ordinary.steps >= 20 else add_up(windows)


def crowded(run: Run) -> bool:
    """Whether other programs had the processors while batches were made: then waits say more about those."""
    loads = [epoch.load for epoch in run.facts(Epoch)]
    return bool(loads) and median(loads) > CROWDED


def time_shares(run: Run) -> Iterator[TimeShare]:
    """The parts of an average step, in the order in which they happen.

    Copies to a device are known only for examined steps: their share is used, and taken out of the forward pass.
    """
    found = times(run)
    if found.steps < FEWEST or found.seconds <= 0:
        return
    parts = dict(found.parts)
    close = add_up(window for window in run.facts(Time) if window.examined)
    if "to_device" not in parts and close.steps and close.parts.get("to_device"):
        copies = close.parts["to_device"] / close.steps * found.steps
        parts["to_device"] = min(copies, parts.get("forward", 0.0))
        parts["forward"] = parts.get("forward", 0.0) - parts["to_device"]
    for part in PARTS:
        if parts.get(part, 0.0) > 0:
            yield TimeShare(part=part, seconds=parts[part] / found.steps, share=parts[part] / found.seconds)


def latest_times(run: Run, share: float = 0.5) -> Times:
    """The last part of the run: caches are warm by then."""
    windows = [window for window in run.facts(Time) if not window.examined]
    total, kept = sum(window.seconds for window in windows), []
    late = 0.0
    for window in reversed(windows):
        kept.append(window)
        late += window.seconds
        if late >= share * total:
            break
    return add_up(kept)


def busiest_line(run: Run, part: str) -> tuple[Where, float] | None:
    """The line of the script that was most often running in this part of the loop, and its share of the samples."""
    looks = [event for event in run.facts(LineSample) if event.part == part]
    total = sum(event.count for event in looks)
    if total < 5:
        return None
    most = max(looks, key=lambda event: event.count)
    return most.where, most.count / total
