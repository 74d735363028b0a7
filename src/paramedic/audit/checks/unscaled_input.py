"""PM301 in data: raw pixels, images scaled twice, columns of very different size."""

from collections.abc import Iterator

import numpy as np

from paramedic.audit.audit import Audit, Split
from paramedic.audit.checks.check import check
from paramedic.audit.sketches.inputs import InputSketch
from paramedic.audit.sketches.pictures import is_image_shape
from paramedic.findings import Evidence, Finding, Severity

PIXELS = 50.0
RATIO = 100.0


@check("PM301")
def unscaled_input(audit: Audit) -> Iterator[Finding]:
    """A note on its own: scaling may come later, in the model or the loop. A warning for images made ready to feed."""
    split = audit.train
    for name, sketch in split.sketch.inputs.items():
        if sketch.moments is None or not sketch.moments.count.sum():
            continue
        if is_image_shape(sketch.shape) or split.pixel_like:
            yield from _pixels(split, sketch)
        elif len(sketch.shape) == 1 and not (split.source.fed and "int" in sketch.type):
            yield from _columns(split, name, sketch)


def _pixels(split: Split, sketch: InputSketch) -> Iterator[Finding]:
    assert sketch.moments is not None
    low, high = float(sketch.moments.low.min()), float(sketch.moments.high.max())
    ready = split.source.fed and "float" in sketch.type and is_image_shape(sketch.shape)
    spans = f"the images of {split.name} go from {low:.4g} to {high:.4g}"
    if low >= 0 and sketch.whole and PIXELS < high <= 255:
        severity: Severity = "warning" if ready else "note"
        why = "these are raw pixels of 0 to 255, which make the first layer's outputs hundreds of times too large"
        yield _finding(split, spans, why, "divide by 255 (as float), then normalise", high, f"≤ {PIXELS:g}", severity)
    elif low >= 0 and 0 < high <= 1.01 / 255 and "float" in sketch.type:
        why = "images from 0 to 1 were divided by 255 a second time"
        yield _finding(split, spans, why, "scale only once", high, "about 1", "warning")


def _columns(split: Split, name: str, sketch: InputSketch) -> Iterator[Finding]:
    quartiles = split.quartiles(name)
    if quartiles is None or sketch.moments is None:
        return
    usual = (quartiles[2] - quartiles[0]) / 1.35  # the deviation, were it not for outliers (which are PM321)
    spread = np.where(usual > 0, usual, np.where(sketch.moments.high <= 1, sketch.moments.std, 0))
    varied = np.flatnonzero(spread > 0)
    if len(varied) < 2:
        return
    widest, middle = int(varied[spread[varied].argmax()]), float(np.median(spread[varied]))
    ratio = float(spread[widest] / middle)
    if ratio < RATIO and spread[widest] < RATIO:
        return
    yield _finding(
        split,
        f"column {split.feature(name, widest)} of {split.name} has standard deviation "
        f"{spread[widest]:,.4g}; the median column {middle:,.3g}",
        "it dominates the other columns unless they are scaled first",
        "mean, std = x_train.mean(0), x_train.std(0); x = (x - mean) / std, and use these statistics for both parts",
        float(spread[widest]),
        "about 1",
        "note",
    )


def _finding(split: Split, what: str, why: str, remedy: str, value: float, limit: str, severity: Severity) -> Finding:
    return Finding(
        what=what,
        why=why,
        remedy=remedy,
        evidence=(Evidence(name="largest", value=value, limit=limit),),
        confidence=0.9 if severity == "warning" else 0.7,
        severity=severity,
        split=split.name,
    )
