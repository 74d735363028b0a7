"""Layers as a picture: one row per tensor, and usually one column per sampled step."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from paramedic.findings.words import number, plural
from paramedic.reports import png

# Viridis: equal steps look equal, also in grey and to those who do not see red or green.
_ANCHORS = ("440154", "482878", "3e4a89", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725")
MISSING, ZERO, BAD, FIRST, LAST = 0, 1, 2, 3, 255  # places in the palette: no value, exactly 0, not finite, low, high
_SPECIAL = ("000000", "9a9a9a", "ffffff")

MOST_ROWS = 240  # neighbours share a row beyond, which then shows the larger value
MOST_COLUMNS = 240
MOST_DECADES = 6.0  # below the highest value; what is smaller still has the lowest colour
MOST_HATCHES = 600
LEAST_LABEL = 13  # pixels between two names
TALLEST = 420  # pixels

_T = TypeVar("_T")
Cells = Mapping[str, Mapping[int, float]]  # name -> column, such as a step -> value


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What the columns stand for."""

    label: Callable[[int], str]
    at: str  # what a reading says before the label
    note: str
    heads: tuple[str, ...]  # of the table
    summary: Callable[[Mapping[int, float]], tuple[str, ...]]  # a tensor's row in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One tensor in numbers."""

    name: str
    summary: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heat:
    """Everything the template needs."""

    key: str
    title: str
    caption: str
    image: str  # data URI, a pixel per cell
    levels: str  # the same bytes in base64, for the pointer
    rows: tuple[Row, ...]  # the table: every tensor
    names: tuple[str, ...]  # one per row of the picture
    steps: tuple[str, ...]  # one per column
    columns: Columns
    labels: tuple[tuple[float, str], ...]  # (pixel, name)
    ticks: tuple[tuple[float, str], ...]  # (thousandths, step)
    hatched: tuple[tuple[float, float, float], ...]  # x and width in thousandths, y in pixels: not finite
    row_height: float
    height: float
    scale: str  # data URI of the colours, low to high
    low: str
    high: str
    ends: tuple[float, float]  # the same as numbers, for the pointer
    log: bool
    has_zero: bool
    sentence: str


def draw(
    cells: Cells, *, key: str, title: str, caption: str, log: bool = True, named: Columns | None = None
) -> Heat | None:
    """The map of these values, or nothing where there are none. `named` says what the columns are, if not steps."""
    named = named or STEPS
    steps = sorted({step for row in cells.values() for step in row})
    columns, rows = _shared(steps, MOST_COLUMNS), _shared(list(cells), MOST_ROWS)
    grid = [
        [_worst([cells[n][s] for n in names for s in group if s in cells[n]]) for group in columns] for names in rows
    ]
    good = [abs(v) for row in grid for v in row if v is not None and math.isfinite(v) and (v or not log)]
    if not good:
        return None
    lowest, high = min(good), max(good)
    low = max(lowest, high * 10**-MOST_DECADES) if log else 0.0
    level = _levels(low, high, log)
    indexed = [bytes(level(value) for value in row) for row in grid]
    height = max(2.0, min(18.0, TALLEST / len(rows)))
    names = tuple(_joined(group) for group in rows)
    return Heat(
        key=key,
        title=title,
        caption=caption,
        image=png.data_uri(len(columns), indexed, kind=png.PALETTE, palette=PALETTE_BYTES, alpha=b"\0"),
        levels=base64.b64encode(b"".join(indexed)).decode(),
        rows=tuple(Row(name=name, summary=named.summary(row)) for name, row in cells.items()),
        names=names,
        steps=tuple(_joined([named.label(place) for place in group], "–") for group in columns),
        columns=named,
        labels=tuple(_labels(names, height)),
        ticks=tuple(_ticks(columns, named.label)),
        hatched=tuple(_hatched(indexed, height))[:MOST_HATCHES],
        row_height=height,
        height=round(height * len(rows), 1),
        scale=_SCALE,
        low=f"≤ {number(low)}" if lowest < low else number(low),
        high=number(high),
        ends=(low, high),
        log=log,
        has_zero=any(ZERO in row for row in indexed),
        sentence=_sentence(title, cells, [named.label(step) for step in steps], named.at),
    )


def _levels(low: float, high: float, log: bool) -> Callable[[float | None], int]:
    start, end = (math.log10(low), math.log10(high)) if log else (low, high)
    span = (end - start) or 1.0

    def level(value: float | None) -> int:
        if value is None:
            return MISSING
        if not math.isfinite(value):
            return BAD
        if value == 0 and log:
            return ZERO
        share = ((math.log10(abs(value)) if log else value) - start) / span
        return FIRST + round((LAST - FIRST) * min(max(share, 0.0), 1.0))

    return level


def _worst(values: Sequence[float]) -> float | None:
    """What must not be lost where several values share a cell: one that is not finite, else the largest."""
    bad = [value for value in values if not math.isfinite(value)]
    return bad[0] if bad else max(values, key=abs, default=None)


def _shared(items: Sequence[_T], most: int) -> list[Sequence[_T]]:
    size = max(1, math.ceil(len(items) / most))
    return [items[i : i + size] for i in range(0, len(items), size)]


def _joined(names: Sequence[str], between: str = " … ") -> str:
    return names[0] if len(names) == 1 else f"{names[0]}{between}{names[-1]}"


def _labels(names: Sequence[str], height: float) -> list[tuple[float, str]]:
    every = math.ceil(LEAST_LABEL / height)
    return [(round((i + 0.5) * height + 4, 1), name) for i, name in enumerate(names) if i % every == 0]


def _ticks(columns: Sequence[Sequence[int]], label: Callable[[int], str]) -> list[tuple[float, str]]:
    every = math.ceil(len(columns) / 8)
    return [
        (round(1000 * (i + 0.5) / len(columns), 1), label(group[0]))
        for i, group in enumerate(columns)
        if i % every == 0 and (i + every / 2 <= len(columns) or i == 0)
    ]


def _hatched(indexed: Sequence[bytes], height: float) -> list[tuple[float, float, float]]:
    """Stretches of cells that are not finite, row by row."""
    found: list[tuple[float, float, float]] = []
    for number_of_row, row in enumerate(indexed):
        start = None
        for column in range(len(row) + 1):
            bad = column < len(row) and row[column] == BAD
            if bad and start is None:
                start = column
            elif not bad and start is not None:
                wide = 1000 / len(row)
                found.append(
                    (round(start * wide, 1), round((column - start) * wide, 1), round(number_of_row * height, 1))
                )
                start = None
    return found


def _summary(row: Mapping[int, float]) -> tuple[str, ...]:
    values = [row[step] for step in sorted(row)]
    good = [value for value in values if math.isfinite(value)]
    bad = len(values) - len(good)
    ends = (number(min(good)), number(max(good))) if good else ("none", "none")
    return number(values[0]), *ends, number(values[-1]), f"{bad:,} of {len(values):,}" if bad else "none"


STEPS = Columns(
    label=lambda step: f"{step:,}",
    at="at step",
    note="A column for each step at which statistics were taken.",
    heads=("first", "lowest", "highest", "last", "not finite"),
    summary=_summary,
)


def _sentence(title: str, cells: Cells, places: Sequence[str], at: str) -> str:
    bad = sum(not math.isfinite(value) for row in cells.values() for value in row.values())
    words = f"{plural(bad, 'value')} not finite." if bad else "All values are finite."
    return f"{title}: {plural(len(cells), 'tensor')}, {at} {places[0]} to {places[-1]}. {words}"


def _colour(share: float) -> tuple[int, int, int]:
    place = share * (len(_ANCHORS) - 1)
    before = min(int(place), len(_ANCHORS) - 2)
    a, b = (bytes.fromhex(_ANCHORS[before + i]) for i in (0, 1))
    red, green, blue = (round(x + (y - x) * (place - before)) for x, y in zip(a, b, strict=True))
    return red, green, blue


PALETTE_BYTES = b"".join(map(bytes.fromhex, _SPECIAL)) + b"".join(
    bytes(_colour(i / (LAST - FIRST))) for i in range(LAST - FIRST + 1)
)
_SCALE = png.data_uri(LAST - FIRST + 1, [bytes(range(FIRST, LAST + 1))], kind=png.PALETTE, palette=PALETTE_BYTES)
