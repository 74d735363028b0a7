"""Small histograms: the target, and columns or pixel values, of train as bars and of val as a line."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paramedic.audit.audit import Audit, Split
from paramedic.audit.chunk import Array

BINS = 24
MOST = 32  # columns
WIDTH, HEIGHT = 100, 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """One histogram, in the units of the drawing."""

    title: str
    range: str
    bars: list[tuple[float, float, float, float]]  # x, y, width, height
    line: str = ""  # points of the other split


def plots(audit: Audit) -> list[Plot]:
    found = []
    labels = audit.train.sketch.target.labels
    other = audit.val.sketch.target.labels if audit.val is not None else None
    if labels is not None and audit.task.kind == "classification":
        found.append(_classes(audit.train, labels, audit.val, other))
    elif labels is not None:
        found += _numbers("target", labels, other)
    for name, values in audit.train.sketch.kept.inputs.items():
        theirs = audit.val.sketch.kept.inputs.get(name) if audit.val is not None else None
        if isinstance(values, list) or values.dtype.kind not in "biuf" or isinstance(theirs, list):
            continue
        rows = values.reshape(len(values), -1)
        others = None if theirs is None else theirs.reshape(len(theirs), -1)
        if audit.train.pixel_like or rows.shape[1] > 4 * MOST:
            found += _numbers("all values of the inputs", rows, others)
            continue
        for place in range(min(rows.shape[1], MOST)):
            title = audit.train.feature(name, place).strip("'")
            title = title if title != str(place) else f"column {place}"
            found += _numbers(title, rows[:, place], None if others is None else others[:, place])
    return found


def _classes(split: Split, labels: Array, val: Split | None, other: Array | None) -> Plot:
    values, counts = np.unique(labels, return_counts=True)
    shares = counts / counts.sum()
    known = [split.sketch.target.shown(value.item()) for value in values]
    line = np.zeros(len(values))
    if other is not None and val is not None:
        theirs = dict(zip(*np.unique(other, return_counts=True), strict=True))
        of_val = {val.sketch.target.shown(key.item()): int(count) for key, count in theirs.items()}
        line = np.asarray([of_val.get(name, 0) for name in known]) / max(len(other), 1)
    title = "classes: " + ", ".join(known[:6]) + (" …" if len(known) > 6 else "")
    return _plot(title, f"{counts.min():,} to {counts.max():,} samples", shares, line if other is not None else None)


def _numbers(title: str, values: Array, other: Array | None) -> list[Plot]:
    numbers, others = _finite(values), None if other is None else _finite(other)
    if not len(numbers):
        return []
    both = numbers if others is None or not len(others) else np.concatenate([numbers, others])
    low, high = float(both.min()), float(both.max())
    edges = np.linspace(low, high if high > low else low + 1, BINS + 1)
    shares = np.histogram(numbers, edges)[0] / len(numbers)
    line = None if others is None or not len(others) else np.histogram(others, edges)[0] / len(others)
    return [_plot(title, f"{low:.4g} to {high:.4g}", shares, line)]


def _finite(values: Array) -> Array:
    flat = np.asarray(values, dtype=np.float64).reshape(-1)
    return flat[np.isfinite(flat)]


def _plot(title: str, span: str, shares: Array, line: Array | None) -> Plot:
    top = max(float(shares.max()), float(line.max()) if line is not None else 0.0, 1e-12)
    step = WIDTH / len(shares)
    bars = [
        (round(i * step, 2), round(HEIGHT * (1 - share / top), 2), round(0.9 * step, 2), round(HEIGHT * share / top, 2))
        for i, share in enumerate(shares.tolist())
    ]
    points = ""
    if line is not None:
        places = enumerate(line.tolist())
        points = " ".join(f"{(i + 0.45) * step:.2f},{HEIGHT * (1 - share / top):.2f}" for i, share in places)
    return Plot(title=title, range=span, bars=bars, line=points)
