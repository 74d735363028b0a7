"""Curves over steps as geometry: the template only draws what is computed here.

Charts are as wide as the page: x is counted in thousandths of the width, y in pixels, so that text keeps its size on
any screen. They are SVG of our own rather than a plotting library's: a page needs no script to show them, stays small,
and the live page sends the same markup under a policy that forbids inline styles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from paramedic.findings import Finding, LossCurve
from paramedic.findings.words import number, plural
from paramedic.reports.axes import Tick, finite, step_axis, value_axis

WIDTH = 1000  # thousandths of the page
TALL, LOW = 300, 190  # pixels
BOTTOM = 24
ROW = 18  # height of one row of finding labels
LANE = 18  # height of the lane for values that have no height
CHARACTER = 12.0  # thousandths that a label's character takes on a page of 600 pixels
MOST_CURVES = 7  # Okabe and Ito's colours end here
BUCKETS = 250  # of points per curve; each keeps its lowest, its highest and its first non-finite value
MOST_ROWS = 4  # of finding labels; a marker that finds no room keeps its line and its link

Point = tuple[int, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One curve, ready to draw."""

    label: str
    pieces: tuple[str, ...]  # SVG point lists; the gaps between them are values that are not finite
    dots: tuple[tuple[float, float], ...]  # points without neighbours
    bad: tuple[tuple[float, str], ...]  # (x, "NaN at step 60")
    readings: tuple[tuple[float, str, str], ...]  # (x, step, value) for the pointer
    summary: tuple[str, ...]  # points, first, lowest, highest, last, not finite


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """Findings at one step."""

    at: float
    label: str
    row: int | None  # None: no room for the label
    step: str
    target: str  # anchor of the first of them
    severity: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A value to compare the curves with, such as the loss of guessing."""

    value: float
    label: str
    at: float = 0.0  # pixels; filled in by `draw`


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Everything the template needs."""

    key: str  # unique on its page
    title: str
    caption: str
    lines: tuple[Line, ...]
    markers: tuple[Marker, ...]
    levels: tuple[Level, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    top: float  # pixels, upper end of the plot
    bottom: float
    height: float
    log: bool
    thinned: bool
    left_out: int  # curves that are not drawn
    sentence: str


def draw(
    curves: Sequence[LossCurve],
    findings: Sequence[tuple[str, Finding]] = (),
    *,
    key: str = "loss",
    title: str = "Loss",
    caption: str = "Loss at each backward() over optimizer steps",
    levels: Sequence[Level] = (),
    tall: bool = True,
) -> Chart | None:
    """The chart of these curves with (anchor, finding) pairs marked, or nothing when there is no value to show."""
    drawn = _longest([curve for curve in curves if curve.values])
    if not drawn:
        return None
    thin = [thin_out(list(zip(curve.steps, curve.values, strict=False))) for curve in drawn]
    steps = [step for curve in drawn for step in curve.steps]
    drawable = [value for points in thin for _, value in points if finite(value)]
    first, last = min(steps), max(steps)
    x = step_axis(first, last, 0, WIDTH)
    markers = tuple(_markers(_by_step(findings, first, last), x.pixel))
    has_bad = len(drawable) < sum(len(points) for points in thin)
    rows = max((marker.row + 1 for marker in markers if marker.row is not None), default=0)
    top = 8 + ROW * rows + LANE * has_bad
    height = (TALL if tall else LOW) + ROW * rows
    bottom = height - BOTTOM
    y = value_axis([*drawable, *(level.value for level in levels)] if drawable else [], bottom, top)
    return Chart(
        key=key,
        title=title,
        caption=caption,
        lines=tuple(_line(curve, points, x.pixel, y.pixel) for curve, points in zip(drawn, thin, strict=True)),
        markers=markers,
        levels=tuple(Level(value=v.value, label=v.label, at=y.pixel(v.value)) for v in levels) if drawable else (),
        x_ticks=x.ticks,
        y_ticks=y.ticks,
        top=top,
        bottom=bottom,
        height=height,
        log=y.log,
        thinned=any(len(points) < len(curve.values) for curve, points in zip(drawn, thin, strict=True)),
        left_out=sum(bool(curve.values) for curve in curves) - len(drawn),
        sentence=_sentence(title, drawn, len(markers)),
    )


def _longest(curves: Sequence[LossCurve]) -> list[LossCurve]:
    """As many as there are colours, in their own order."""
    kept = sorted(curves, key=lambda curve: -len(curve.values))[:MOST_CURVES]
    return [curve for curve in curves if any(curve is one for one in kept)]


def thin_out(points: list[Point], buckets: int = BUCKETS) -> list[Point]:
    """Few enough points to draw, with every spike and every gap still there.

    Buckets are stretches of the axis: of a long run, the record has more points of the beginning than of the end.
    """
    if len(points) <= 2 * buckets:
        return points
    first = min(step for step, _ in points)
    wide = (max(step for step, _ in points) - first + 1) / buckets
    shared: dict[tuple[int, bool], list[int]] = {}
    for i, (step, value) in enumerate(points):
        shared.setdefault((int((step - first) / wide), finite(value)), []).append(i)
    kept = {0, len(points) - 1}
    for (_, good), group in shared.items():
        ends = {min(group, key=lambda i: points[i][1]), max(group, key=lambda i: points[i][1])}
        kept |= ends if good else {group[0]}
    return [points[i] for i in sorted(kept)]


def _line(curve: LossCurve, points: Sequence[Point], x: Callable[[float], float], y: Callable[[float], float]) -> Line:
    pieces: list[list[tuple[float, float]]] = [[]]
    bad: list[tuple[float, str]] = []
    for step, value in points:
        if finite(value):
            pieces[-1].append((x(step), y(value)))
        else:
            bad.append((x(step), f"{number(value)} at step {step:,}"))
            pieces.append([])
    return Line(
        label=curve.label,
        pieces=tuple(" ".join(f"{a:g},{b:g}" for a, b in piece) for piece in pieces if len(piece) > 1),
        dots=tuple(piece[0] for piece in pieces if len(piece) == 1),
        bad=tuple(bad),
        readings=tuple((x(step), f"{step:,}", number(value)) for step, value in points),
        summary=_summary(curve),
    )


def _summary(curve: LossCurve) -> tuple[str, ...]:
    points = list(zip(curve.steps, curve.values, strict=False))
    good = [(step, value) for step, value in points if finite(value)]
    bad = [step for step, value in points if not finite(value)]
    low, high = (extreme(good, default=None, key=lambda point: point[1]) for extreme in (min, max))
    return (
        f"{len(points):,}",
        number(curve.values[0]),
        f"{number(low[1])} at step {low[0]:,}" if low else "none",
        f"{number(high[1])} at step {high[0]:,}" if high else "none",
        number(curve.values[-1]),
        f"{len(bad):,}, first at step {bad[0]:,}" if bad else "none",
    )


def _by_step(findings: Iterable[tuple[str, Finding]], low: int, high: int) -> dict[int, list[tuple[str, Finding]]]:
    by_step: dict[int, list[tuple[str, Finding]]] = {}
    for anchor, finding in findings:
        step = finding.where.step
        if finding.severity != "note" and step is not None and low <= step <= high:
            by_step.setdefault(step, []).append((anchor, finding))
    return by_step


def _markers(by_step: dict[int, list[tuple[str, Finding]]], x: Callable[[float], float]) -> Iterable[Marker]:
    """One marker per step, its label in the first row where it covers no other label."""
    rows: list[list[tuple[float, float]]] = []
    for step, found in sorted(by_step.items()):
        codes = list(dict.fromkeys(finding.code for _, finding in found))
        label = ", ".join(codes[:3]) + (f" +{len(codes) - 3}" if len(codes) > 3 else "")
        width, at = CHARACTER * len(label), x(step)
        start = at if at <= WIDTH / 2 else at - width  # in the right half the label ends at its line
        taken = (start, start + width)
        row = next((r for r, spans in enumerate(rows) if all(_apart(taken, span) for span in spans)), len(rows))
        if row < MOST_ROWS:
            rows[row:] = [[*rows[row], taken], *rows[row + 1 :]] if row < len(rows) else [[taken]]
        yield Marker(
            at=at,
            label=label,
            row=row if row < MOST_ROWS else None,
            step=f"{step:,}",
            target=found[0][0],
            severity="error" if any(finding.severity == "error" for _, finding in found) else "warning",
        )


def _apart(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one[1] + 8 <= other[0] or other[1] + 8 <= one[0]


def _sentence(title: str, curves: Sequence[LossCurve], markers: int) -> str:
    first = curves[0]
    marked = f" Findings are marked at {plural(markers, 'step')}." if markers else ""
    return (
        f"{title} over steps, {plural(len(curves), 'curve')}. {first.label} goes from {number(first.values[0])} "
        f"to {number(first.values[-1])} in {plural(len(first.values), 'value')}.{marked}"
    )
