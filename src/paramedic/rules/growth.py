"""Memory over the steps of a run: does it keep growing, and how fast?"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from paramedic.frozen import dataclass
from paramedic.record.facts import DeviceMemory, Loader, MemoryPeak
from paramedic.record.reader import Run

MOST_POINTS = 200  # a robust fit compares all pairs
FEWEST_POINTS = 7
STEADY = 0.5  # of the pace before, the least pace later on; less is levelling off

MB = 1e6
GB = 1e9

Points = list[tuple[int, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """The second half of a series that keeps growing."""

    per_step: float  # bytes
    first: float  # bytes at the beginning of the fit
    last: float
    first_step: int
    last_step: int
    points: int

    @property
    def gained(self) -> float:
        return self.per_step * (self.last_step - self.first_step)


def growth(points: Points) -> Growth | None:
    """How the series grows, or None if it is level, levels off or only fluctuates."""
    if not is_enough(points):
        return None
    points = _per_step(points)
    middle = (points[0][0] + points[-1][0]) / 2
    half = [point for point in points if point[0] >= middle]
    slope = _slope(half)
    offset = median(value - slope * step for step, value in half)
    noise = median(abs(value - slope * step - offset) for step, value in half)
    before = _slope([point for point in points if point[0] < middle])
    end = _slope(half[len(half) // 2 :])
    found = Growth(
        per_step=slope,
        first=half[0][1],
        last=half[-1][1],
        first_step=half[0][0],
        last_step=half[-1][0],
        points=len(half),
    )
    if slope <= 0 or found.gained < 4 * noise:
        return None
    return found if slope >= STEADY * before and end >= STEADY * slope else None


def is_enough(points: Points) -> bool:
    """Whether the steps at which memory was measured can show growth at all."""
    steps = [step for step, _ in _per_step(points)]
    return len(steps) >= FEWEST_POINTS and sum(2 * step >= steps[0] + steps[-1] for step in steps) > FEWEST_POINTS // 2


def _per_step(points: Points) -> Points:
    """One value per step, the lowest: what comes and goes within a step is not growth."""
    least: dict[int, float] = {}
    end = points[-1][0] if points else 0
    for step, value in points:
        # Before the first step everything is still being built, after the last one it is being let go.
        if 0 < step < end:
            least[step] = min(value, least.get(step, value))
    kept = sorted(least.items())
    stride = max(1, len(kept) // MOST_POINTS)
    return kept[::stride]


def _slope(points: Sequence[tuple[int, float]]) -> float:
    """The median slope of all pairs (Theil and Sen): single jumps do not move it."""
    slopes = [
        (later - earlier) / (last - first)
        for index, (first, earlier) in enumerate(points)
        for last, later in points[index + 1 :]
        if last > first
    ]
    return median(slopes) if slopes else 0.0


def size(count: float) -> str:
    """1.57 MB, 24 GB."""
    unit, name = (GB, "GB") if count >= GB else (MB, "MB") if count >= MB else (1e3, "kB")
    return f"{count / unit:,.3g} {name}" if count < 1000 * unit else f"{count / unit:,.0f} {name}"


def first_epoch(run: Run) -> float | None:
    """The optimizer steps after which every sample was loaded once; None when that is not known."""
    lengths = []
    for loader in run.facts(Loader):
        if not loader.size or not loader.batch_size:
            return None
        lengths.append(loader.size / loader.batch_size)
    return max(lengths, default=None)


def memory_lines(run: Run) -> list[str]:
    """The most that each process and device has used, one line each: processes, the main one first, then devices."""
    processes, devices = [], []
    for name, points in run.curves("memory").items():
        what, _, who = name.partition(":")
        highest = max((value for _, value in points), default=0.0)
        if what == "rss":
            peak = run.first(MemoryPeak) if who == "main" else None
            resident = max(highest, (peak.rss or 0) if peak else 0)
            called = f"rank {run.rank}" if who == "main" and run.meta.get("world_size", 1) > 1 else who
            processes.append(f"{'main process' if called == 'main' else called}: at most {size(resident)}")
        elif what == "peak":
            total = next((event.total for event in run.facts(DeviceMemory) if event.name == who), 0)
            devices.append(f"{who}: at most {size(highest)} of {size(total)} in use")
    return processes + devices
