"""PM301."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.findings import Severity
from paramedic.record.facts import Columns, Input, Loader, ModuleCall, TrainForward
from paramedic.record.site import Site
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.lines import Places, edited_at, input_assembled
from paramedic.rules.outcome import outcome
from paramedic.rules.support import at, listed

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit, Split
    from paramedic.audit.sketches.inputs import InputSketch
    from paramedic.audit.sketches.moments import Floats, Moments


@rule("PM301", "unscaled-input", severity="warning", needs=[Input], causes=["PM2", "PM512"])
def check(run: Run, *, pixels: float = 50.0, deviation: float = 100.0, failing: float = 20.0) -> Iterator[Finding]:
    """The first layer gets inputs on a scale that networks handle badly.

    Also table columns in which one repeated value, far from all others, takes up the range: a missing-value marker that
    was scaled along with the measurements.

    Measured where it matters, at the first layer with weights: scaling inside the model or the loop counts.

    ## Why it hurts
    The first outputs are hundreds of times too large: units saturate or die, a learning rate that suits one feature is
    far off for the next, and the loss starts huge or gets stuck.

    ## What to try first
    Images: divide by 255 (`ToTensor` does that only for uint8 arrays). Tables: subtract the mean of each column and
    divide by its standard deviation, both computed on the training split.

    ## When this is wrong
    Nothing is reported if a normalisation layer directly follows the first layer. Otherwise large inputs can be
    harmless if the weights are initialised for them.

    ## Options
    `pixels`: the largest value of an image that is still fine; `deviation`: the largest standard deviation of a column;
    `failing`: the largest standard deviation of any input if nothing is learnt.
    """
    marked = list(_marked(run))
    yield from marked
    for event in [] if marked else run.facts(Input, phase="train"):
        if event.samples < 16 or _normalised_next(run, event):
            continue
        finding = _image(event, pixels) if event.class_.startswith("Conv") else _table(event, deviation)
        finding = finding or _narrow(run, event)
        if finding is None and event.std > failing and _fails(run):
            finding = _large(event)
        if finding is not None:
            what, why, remedy = finding
            yield Finding(
                what=what,
                why=why,
                remedy=remedy,
                **_places(run, event),
                evidence=(
                    Evidence(name="min", value=event.min),
                    Evidence(name="max", value=event.max, limit=f"≤ {pixels:g}"),
                    Evidence(name="std", value=event.std, limit="about 1"),
                ),
                confidence=0.88,
            )
            return


def _marked(run: Run, *, apart: float = 10.0, repeated: int = 3, columns: int = 3) -> Iterator[Finding]:
    """An extreme value that occurs repeatedly, several interquartile ranges from the next one."""
    for table in run.facts(Columns, phase="train"):
        found = [(i, edge) for i in range(len(table.low)) if (edge := _edge(table, i, apart, repeated)) is not None]
        if not found:
            continue
        names = listed([str(i) for i, _ in found])
        first, (value, rows, nearest) = found[0]
        yield Finding(
            what=f"column {first} of {table.module}'s input is {value:.4g} in {rows:.0f} of {table.rows:,} rows, and "
            "the "
            f"nearest other value is {nearest:.4g} (columns {names}, counted from 0)",
            why="a missing-value marker was probably scaled along with the measurements, which are left with a small "
            "part "
            "of the range",
            remedy="make the marker a missing value before scaling, then impute it: "
            "x[x == marker] = np.nan, and SimpleImputer or the median of the training split",
            **edited_at(table.where, input_assembled(run)),
            evidence=(
                Evidence(name="rows_with_this_value", value=rows, limit=f"< {repeated}"),
                Evidence(name="columns", value=[i for i, _ in found][:20], limit="none"),
            ),
            confidence=0.85,
            severity="warning" if len(found) >= columns else "note",
        )
        return


def _edge(table: Columns, i: int, apart: float, repeated: int) -> tuple[float, float, float] | None:
    """The lowest or highest value, its rows and its neighbour, if it is far from the rest; most rows have others."""
    usual = table.upper_quartile[i] - table.lower_quartile[i]
    for value, rows, nearest in (
        (table.low[i], table.low_rows[i], table.after_low[i]),
        (table.high[i], table.high_rows[i], table.before_high[i]),
    ):
        if usual > 0 and repeated <= rows < table.rows / 4 and abs(nearest - value) > apart * usual:
            return value, rows, nearest
    return None


def _image(event: Input, pixels: float) -> tuple[str, str, str] | None:
    if event.class_ != "Conv2d" or event.features not in (1, 3, 4):
        return None
    spans = f"the images that reach {event.module} go from {event.min:.4g} to {event.max:.4g}"
    raw = event.min >= 0 and event.whole_numbers == 1.0 and event.max <= 255
    # Pixels that only had a mean subtracted, as models of old want them, go far below zero as well.
    if event.max > pixels and (raw or (event.features == 3 and event.min > -10)):
        if raw:
            return spans, "these are raw pixels from 0 to 255", "divide by 255, and normalise if the model expects it"
        shifted = "pixels from 0 to 255 were probably normalised with statistics for images from 0 to 1"
        return f"{spans} (standard deviation {event.std:.3g})", shifted, "divide by 255 before normalising"
    if event.min >= 0 and 0 < event.max <= 1.01 / 255 and event.features in (1, 3):
        return spans, "images from 0 to 1 were divided by 255 a second time", "scale only once"
    return None


def _narrow(run: Run, event: Input) -> tuple[str, str, str] | None:
    """Images that hardly differ, far from zero. A single channel may be some other measurement."""
    spread, offset = event.largest_feature_std, event.largest_feature_mean
    if event.class_ != "Conv2d" or event.features not in (1, 3, 4) or not 0 < 50 * spread < offset:
        return None
    if spread > 0.02 or (event.features == 1 and not _fails(run)):
        return None
    return (
        f"the images that reach {event.module} go from {event.min:.4g} to {event.max:.4g}, "
        f"and a channel's standard deviation is at most {spread:.2g}",
        "images from 0 to 1 were probably normalised with statistics for images from 0 to 255",
        "use the mean and standard deviation of images from 0 to 1, or scale the images to 0 to 255 first",
    )


def _table(event: Input, deviation: float) -> tuple[str, str, str] | None:
    largest, median = event.largest_feature_std, event.median_feature_std
    if event.class_ != "Linear" or len(event.shape) != 2 or not deviation <= largest < math.inf:
        return None  # a deviation that is not finite has a cause of its own: PM105, PM102
    uneven = f", {largest / median:,.0f} times that of the median column" if median and largest > 10 * median else ""
    return (
        f"a column of the input of {event.module} has a standard deviation of {largest:,.4g}{uneven}",
        "features on such a scale dominate the others and make the first layer's gradients huge",
        "standardise each column: (x - mean) / std, with the statistics of the training split",
    )


def _fails(run: Run) -> bool:
    try:
        return outcome(run).bad
    except Abstain:
        return False


def _large(event: Input) -> tuple[str, str, str]:
    return (
        f"the input of {event.module} goes from {event.min:.4g} to {event.max:.4g} "
        f"(standard deviation {event.std:.3g}), and nothing is learnt",
        "the first outputs and gradients are too large by the same factor",
        "scale it to a standard deviation of about 1: (x - mean) / std, with the statistics of the training split",
    )


def _normalised_next(run: Run, event: Input) -> bool:
    """Whether the layer after the first one is a norm, which removes any scale."""
    calls = [c for c in run.facts(ModuleCall) if c.grad and (c.module or "").split(".")[0] == _root(event)]
    order = sorted(calls, key=lambda call: call.order)
    names = [call.module for call in order]
    if event.module not in names:
        return False
    after = order[names.index(event.module) + 1 : names.index(event.module) + 2]
    return bool(after) and "Norm" in after[0].class_


def _root(event: Input) -> str:
    return (event.module or "").split(".")[0]


def _places(run: Run, event: Input) -> Places:
    """Where the samples are read; without a loader, where the input is assembled."""
    reader = _reader(run)
    if reader is not None:
        return Places(where=at(event, reader), also=())
    return edited_at(event.where, input_assembled(run))


def _reader(run: Run) -> Site | None:
    """The dataset's own code, where the fix belongs, if exactly one was trained on."""
    used = {event.loader for event in run.facts(TrainForward)}
    readers = [loader.reader for loader in run.facts(Loader) if loader.number in used]
    return readers[0] if len(readers) == 1 else None


# In an audit: the data itself, before any training.
SKEW = 0.3  # of the interquartile range, by which the median lies nearer to the low quartile than to the high one
FAR = 10.0  # interquartile ranges beyond the quartiles: a tail that would leave the rest near zero


def in_data(audit: Audit, *, pixels: float = 50.0, deviation: float = 100.0) -> Iterator[Finding]:
    """A note by itself: scaling may come later, in the model or the loop. A warning for images ready to be fed."""
    from paramedic.audit.sketches.pictures import is_image_shape

    split = audit.train
    for name, sketch in split.sketch.inputs.items():
        if sketch.moments is None or not sketch.moments.count.sum():
            continue
        if is_image_shape(sketch.shape) or split.pixel_like:
            yield from _pixels(split, sketch, pixels)
        elif len(sketch.shape) == 1 and not (split.source.fed and "int" in sketch.type):
            yield from _columns(split, name, sketch, deviation)


def _pixels(split: Split, sketch: InputSketch, pixels: float) -> Iterator[Finding]:
    from paramedic.audit.sketches.pictures import is_image_shape

    assert sketch.moments is not None
    low, high = float(sketch.moments.low.min()), float(sketch.moments.high.max())
    ready = split.source.fed and "float" in sketch.type and is_image_shape(sketch.shape)
    spans = f"the images of {split.name} go from {low:.4g} to {high:.4g}"
    if low >= 0 and sketch.whole and pixels < high <= 255:
        severity: Severity = "warning" if ready else "note"
        why = "these are raw pixels from 0 to 255, which make the first layer's outputs hundreds of times too large"
        yield _finding(split, spans, why, "divide by 255 (as float), then normalise", high, f"≤ {pixels:g}", severity)
    elif low >= 0 and 0 < high <= 1.01 / 255 and "float" in sketch.type:
        why = "images from 0 to 1 were divided by 255 a second time"
        yield _finding(split, spans, why, "scale only once", high, "about 1", "warning")


def _columns(split: Split, name: str, sketch: InputSketch, deviation: float) -> Iterator[Finding]:
    import numpy as np

    quartiles = split.quartiles(name)
    if quartiles is None or sketch.moments is None:
        return
    usual = (quartiles[2] - quartiles[0]) / 1.35  # the deviation, were it not for outliers (which are PM321)
    spread = np.where(usual > 0, usual, np.where(sketch.moments.high <= 1, sketch.moments.std, 0))
    varied = np.flatnonzero(spread > 0)
    if len(varied) < 2:
        return
    middle = float(np.median(spread[varied]))
    limit = deviation * min(middle, 1.0)
    large = [int(i) for i in varied[np.argsort(-spread[varied])] if spread[i] >= limit]
    if not large:
        return
    widest = large[0]
    yield _finding(
        split,
        f"column {split.feature(name, widest)} of {split.name} has standard deviation {spread[widest]:,.4g}; the "
        f"median column {middle:,.3g}",
        "unscaled, it dominates the other columns",
        _advice(split, name, large, quartiles, sketch.moments),
        float(spread[widest]),
        "about 1",
        "note",
        split.columns(name, large),
    )


def _advice(
    split: Split, name: str, large: list[int], quartiles: tuple[Floats, Floats, Floats], moments: Moments
) -> str:
    """Which column, which transform, fitted on which split."""
    low, median, high = quartiles
    tails = [i for i in large if moments.low[i] >= 0 and high[i] + low[i] - 2 * median[i] > SKEW * (high[i] - low[i])]
    far = FAR * (high - low)
    both = [i for i in large if moments.low[i] < low[i] - far[i] and moments.high[i] > high[i] + far[i]]
    logs = [split.feature(name, i) for i in tails]
    bends = [split.feature(name, i) for i in both if i not in tails]
    others = [split.feature(name, i) for i in large if i not in (*tails, *both)]
    parts = [f"log1p of {listed(logs)}, whose tails are long, then standardise"] if logs else []
    parts += [f"standardise {listed(bends)}, whose tails are long on both sides, then tanh"] if bends else []
    parts += [f"standardise {listed(others)}"] if others else []
    return f"{'; '.join(parts)}: scaler = StandardScaler().fit(x_train), then scaler.transform on both splits"


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
