"""How large the elements of a tensor are: the histograms of the last sampled step, a row per tensor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from paramedic.findings.words import number, percent
from paramedic.record.reader import Run
from paramedic.record.summary import EDGES, HISTOGRAM
from paramedic.reports import heat
from paramedic.reports.heat import Columns, Heat
from paramedic.reports.layers import shortened

TITLES = {"gradient": "Magnitudes of gradients", "output": "Magnitudes of activations"}
PARTS = (0.05, 0.5, 0.95)  # of the elements, from the smallest on


def maps(run: Run) -> Iterator[Heat]:
    for role, title in TITLES.items():
        samples = run.samples(role)
        cells = _shares(samples[-1].names, samples[-1].rows[:, HISTOGRAM:].tolist()) if samples else {}
        drawn = heat.draw(
            shortened(cells),
            key=f"magnitudes-{role}",
            title=title,
            caption=f"Share of a tensor's elements by their absolute value, at step {samples[-1].step:,}"
            if samples
            else "",
            log=False,
            named=BINS,
        )
        if drawn is not None:
            yield drawn


def _shares(names: tuple[str, ...], counts: list[list[float]]) -> dict[str, dict[int, float]]:
    """By name and bin, from the first bin that some tensor has elements in to the last one."""
    filled = [place for row in counts for place, count in enumerate(row) if count > 0]
    places = range(min(filled, default=0), max(filled, default=-1) + 1)
    return {
        name: {place: row[place] / sum(row) for place in places}
        for name, row in zip(names, counts, strict=True)
        if sum(row) > 0
    }


def _from(place: int) -> str:
    """The lower end of a bin: see record/summary.py."""
    if place == 0:
        return "exactly 0"
    return f"below {_power(EDGES[0])}" if place == 1 else _power(EDGES[place - 2])


def _power(exponent: int) -> str:
    return f"{2.0**exponent:.1g}"


def _summary(row: Mapping[int, float]) -> tuple[str, ...]:
    """The share of zeros, and the values below which a part of the elements lies."""
    limits = []
    for part in PARTS:
        total = 0.0
        for place, share in row.items():
            total += share
            if total >= part:
                limits.append(_from(place + 1) if 0 < place <= len(EDGES) else _from(place))
                break
        else:
            limits.append("unknown")
    zeros = row.get(0, 0.0)
    return (percent(zeros) if zeros else number(0), *limits)


BINS = Columns(
    label=_from,
    at="from",
    note="Columns are powers of two.",
    heads=("zeros", "5 % below", "half below", "95 % below"),
    summary=_summary,
)
