"""The metrics that a script prints of itself: how good they are, and what an experiment makes of them.

A loss is what is trained; the metric of unseen samples is what the training is for. A change that repairs the metric
was the cause, whatever the loss does, and a loss that falls says little while the metric stays at chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean, pstdev
from typing import NamedTuple

from paramedic.rules.experiments import Tried

LAST = 3  # readings that are the end of a run
FEWEST = 3  # readings that show a way
GAIN = 0.15  # of a share, at least
SPOILT = 0.05  # of a share, that training takes away
ERRORS_LEFT = 0.6  # of those that there were
LOWER = 0.25  # of a metric that is better when lower, and has not even come to
LEFT = 0.5  # of its first reading
TIMES = 2.0  # what is gained in a metric without an upper end, against what the script gains itself
KNOWN, FAR_BELOW = 0.8, 0.5  # what is right of the data trained on, and the part of that which carries over
DATA = frozenset(["train", "training", "test", "val", "valid", "validation", "dev", "eval", "held", "out", "heldout"])
BEYOND = 3.0  # times the spread of the readings


class Metric(NamedTuple):
    """The readings of one metric, in order."""

    name: str
    values: Sequence[float]
    higher: bool  # is better
    unseen: bool  # of samples that are not trained on

    @property
    def end(self) -> float:
        return mean(self.values[-LAST:])

    @property
    def is_share(self) -> bool:
        """A share, a correlation or an explained variance: 1 is perfect."""
        return self.higher and max(self.values) <= 1


def metrics_of(tried: Tried, fewest: int = 1) -> dict[str, Metric]:
    """Those that were read often enough."""
    printed: Mapping[str, Mapping[str, object]] = tried.noted.get("printed") or {}
    found = {}
    for name, told in printed.items():
        values = told["values"]
        if isinstance(values, Sequence) and len(values) >= fewest:
            found[name] = Metric(name, values, bool(told["higher"]), bool(told.get("unseen")))
    return found


def repaired(base: Tried, tried: Tried) -> str | None:
    """In words: a metric that a change makes far better; where there are some of unseen samples, one of those."""
    before, after = metrics_of(base), metrics_of(tried)
    pairs = [(before[name], after[name]) for name in before if name in after]
    told = [pair for pair in pairs if pair[0].unseen] or pairs
    if any(_far_better(new, old) for old, new in told):
        return None  # another one pays for it
    for old, new in told:
        if _far_better(old, new):
            return f"{old.name} is {new.end:.3g} instead of {old.end:.3g}"
    return None


def _far_better(old: Metric, new: Metric) -> bool:
    if old.is_share and new.is_share:
        if len(new.values) >= FEWEST and new.values[0] - new.end > SPOILT:
            return False  # training still makes it worse, only more slowly
        return new.end - old.end > GAIN and 1 - new.end < ERRORS_LEFT * (1 - old.end)
    if not old.higher:
        return _is_stuck(old) and 0 <= new.end < LOWER * old.end
    if len(old.values) < 2 * FEWEST or len(new.values) < 2 * FEWEST:
        return False  # noise is all that can be seen
    gain = new.end - old.end
    spread = max(pstdev(metric.values[len(metric.values) // 2 :]) for metric in (old, new))
    return gain > max(BEYOND * spread, GAIN * abs(old.end), TIMES * (old.end - old.values[0]))


def surpasses(one: Tried, other: Tried) -> str | None:
    """In words: a metric that is better in one run than in the other, beyond what its readings vary by."""
    ours, theirs = metrics_of(one, 2 * FEWEST), metrics_of(other, 2 * FEWEST)
    for name in (name for name in ours if name in theirs):
        ends = [metric.values[len(metric.values) // 2 :] for metric in (ours[name], theirs[name])]
        gain = (mean(ends[0]) - mean(ends[1])) * (1 if ours[name].higher else -1)
        if gain > max(BEYOND * max(map(pstdev, ends)), GAIN * abs(mean(ends[1]))):
            return f"{name} is {mean(ends[0]):.3g}, there {mean(ends[1]):.3g}"
    return None


def left_behind(tried: Tried) -> str | None:
    """In words: a share of right answers that is high on the data trained on, and low on the other data."""
    known = metrics_of(tried, FEWEST).values()
    trained = {_bare(metric.name): metric for metric in known if not metric.unseen and metric.is_share}
    for metric in known:
        ours = trained.get(_bare(metric.name))
        if ours is None or not metric.unseen or not metric.is_share or min(ours.end, metric.end) < 0:
            continue
        if metric.end < FAR_BELOW * ours.end and ours.end > KNOWN:
            return f"{metric.name} is {metric.end:.3g}, {ours.name} {ours.end:.3g}"
    return None


def _bare(name: str) -> str:
    """Without the name of the data."""
    return " ".join(word for word in name.split() if word not in DATA)


def has_room(tried: Tried) -> str | None:
    """In words: a metric of unseen samples that is far from perfect at the end; none where no such metric is known."""
    for metric in metrics_of(tried).values():
        if metric.unseen and (_is_stuck(metric) or (metric.is_share and metric.end < 1 - 2 * GAIN)):
            return f"{metric.name} is {metric.end:.3g}"
    return None


def _is_stuck(metric: Metric) -> bool:
    return not metric.higher and len(metric.values) > 1 and metric.end > LEFT * metric.values[0] > 0


def improving(tried: Tried) -> str | None:
    """In words: a metric other than a loss that gets clearly better; that of unseen samples, where there is one."""
    for metric in _told(tried):
        values, first, last = metric.values, metric.values[0], mean(metric.values[-2:])
        gain = last - first if metric.higher else first - last
        best = max(values) - first if metric.higher else first - min(values)
        if gain > max(0.1, 0.15 * abs(first)) and gain > 0.6 * best:
            return f"{metric.name} goes from {first:.3g} to {last:.3g}"
    return None


def _told(tried: Tried) -> Iterator[Metric]:
    known = metrics_of(tried, FEWEST).values()
    unseen = [metric for metric in known if metric.unseen]
    yield from unseen or known
