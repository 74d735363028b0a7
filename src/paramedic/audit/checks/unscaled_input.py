"""PM301 in data: raw pixels, images scaled twice, columns of very different size."""

from collections.abc import Iterator

import numpy as np

from paramedic.audit.audit import Audit, Split
from paramedic.audit.checks.check import check
from paramedic.audit.sketches.inputs import InputSketch
from paramedic.audit.sketches.moments import Floats, Moments
from paramedic.audit.sketches.pictures import is_image_shape
from paramedic.findings import Evidence, Finding, Severity
from paramedic.rules.support import listed

PIXELS = 50.0
RATIO = 100.0
SKEW = 0.3  # of the interquartile range, by which the median lies nearer to the low quartile than to the high one


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
    middle = float(np.median(spread[varied]))
    limit = RATIO * min(middle, 1.0)
    large = [int(i) for i in varied[np.argsort(-spread[varied])] if spread[i] >= limit]
    if not large:
        return
    widest = large[0]
    yield _finding(
        split,
        f"column {split.feature(name, widest)} of {split.name} has standard deviation {spread[widest]:,.4g}; the "
        f"median column {middle:,.3g}",
        "it dominates the other columns unless they are scaled first",
        _advice(split, name, large, quartiles, sketch.moments),
        float(spread[widest]),
        "about 1",
        "note",
        split.columns(name, large),
    )


def _advice(
    split: Split, name: str, large: list[int], quartiles: tuple[Floats, Floats, Floats], moments: Moments
) -> str:
    """Which column, which transform, fitted on which part."""
    low, median, high = quartiles
    tails = [i for i in large if moments.low[i] >= 0 and high[i] + low[i] - 2 * median[i] > SKEW * (high[i] - low[i])]
    logs = [split.feature(name, i) for i in tails]
    others = [split.feature(name, i) for i in large if i not in tails]
    parts = [f"log1p of {listed(logs)}, whose tails are long, then standardise"] if logs else []
    parts += [f"standardise {listed(others)}"] if others else []
    return f"{'; '.join(parts)}: scaler = StandardScaler().fit(x_train), then scaler.transform for both parts"


def _finding(
    split: Split,
    what: str,
    why: str,
    remedy: str,
    value: float,
    limit: str,
    severity: Severity,
    columns: tuple[str, ...] = (),
) -> Finding:
    return Finding(
        what=what,
        why=why,
        remedy=remedy,
        evidence=(Evidence(name="largest", value=value, limit=limit),),
        confidence=0.9 if severity == "warning" else 0.7,
        severity=severity,
        split=split.name,
        columns=columns,
    )
