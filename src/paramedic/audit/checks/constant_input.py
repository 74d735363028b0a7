"""PM303 in data: columns, channels or samples without any variation."""

from collections.abc import Iterator

import numpy as np

from paramedic.audit.audit import Audit, Split
from paramedic.audit.checks.check import check
from paramedic.audit.sketches.inputs import InputSketch
from paramedic.audit.sketches.pictures import channel_axis, is_image_shape
from paramedic.findings import Evidence, Finding, Severity
from paramedic.rules.rule import Abstain
from paramedic.rules.support import listed, many

FEWEST = 20  # samples
WIDE = 64  # columns
BLANK = 0.2  # of the samples, or of a class


@check("PM303")
def constant_input(audit: Audit) -> Iterator[Finding]:
    """Pixels at the border of images may be constant; a named column, a channel or a whole image may not."""
    split = audit.train
    if split.size < FEWEST:
        raise Abstain(f"only {split.size} samples")
    for name, sketch in split.sketch.inputs.items():
        if sketch.type == "text" and len(sketch.words) == 1:
            what = f"{name!r} of {split.name} is {next(iter(sketch.words))!r} in all {split.size:,} samples"
            usual: Severity = "warning" if split.source.fed else "note"  # of a study, a country, a unit
            yield _finding(split, what, "a constant carries no information", 1, usual, (name,))
        if sketch.moments is None:
            continue
        constant = sketch.moments.constant
        if constant.all():
            what = f"all {split.size:,} samples of {split.name} have the same input"
            yield _finding(split, what, "there is nothing to distinguish them by", len(constant))
        elif is_image_shape(sketch.shape):
            yield from _channels(split, sketch)
        elif constant.any() and not split.pixel_like and len(sketch.shape) == 1 and "int" not in sketch.type:
            columns = [split.feature(name, int(i)) for i in np.flatnonzero(constant)]
            what = f"column{'s' * (len(columns) > 1)} {listed(columns, 6)} of {split.name} never var{_y(columns)}"
            why = "a constant carries no information, and its scaling divides by zero"
            severity: Severity = "note" if _usual(split, name, sketch) else "warning"
            named = split.columns(name, np.flatnonzero(constant).tolist())
            yield _finding(split, what, why, len(columns), severity, named)
        if is_image_shape(sketch.shape) and sketch.blank and not constant.all():
            yield _blank(split, sketch)


def _usual(split: Split, name: str, sketch: InputSketch) -> bool:
    """Rows in which some columns are never used by nature: wide features without names, one-hot columns, the bias."""
    moments = sketch.moments
    assert moments is not None
    if not split.source.features.get(name) and len(moments.mean) >= WIDE:
        return True
    places = np.flatnonzero(moments.constant).tolist()
    ones = len(places) == 1 and moments.low[places[0]] == 1
    if ones and (places in ([0], [len(moments.mean) - 1]) or not split.source.fed):
        return True  # a column of ones stands for the bias
    flags = int(((moments.low == 0) & (moments.high == 1)).sum())
    return flags >= 3 and bool((moments.low[moments.constant] == 0).all())


def _channels(split: Split, sketch: InputSketch) -> Iterator[Finding]:
    axis = channel_axis(sketch.shape)
    if axis is None or sketch.shape[axis] < 2 or sketch.moments is None or len(sketch.moments.low) < 2:
        return
    if len(sketch.shapes) > 1:
        return
    other = tuple(i for i in range(3) if i != axis)
    low = sketch.moments.low.reshape(sketch.shape).min(axis=other)
    high = sketch.moments.high.reshape(sketch.shape).max(axis=other)
    flat = [str(i) for i in np.flatnonzero(low == high)]
    if flat and sketch.shape[axis] != 4:  # an opaque alpha channel is constant by nature
        what = f"channel{'s' * (len(flat) > 1)} {listed(flat)} of the images of {split.name} never var{_y(flat)}"
        yield _finding(split, what, "a channel was lost when the images were read or joined", len(flat))


def _meant(split: Split, blank: list[int]) -> bool:
    """Whether "nothing to be seen" is a class, or what many samples show: empty tiles, slices beside the body."""
    if len(blank) > BLANK * split.size or split.sketch.boxes or split.sketch.dense.known:
        return True
    target = split.sketch.target
    if target.labels is None:
        return False
    empty = np.isin(target.samples, blank)
    classes = np.unique(target.labels[empty])
    return len(classes) == 1 and float(empty[target.labels == classes[0]].mean()) > BLANK


def _blank(split: Split, sketch: InputSketch) -> Finding:
    severity: Severity = "note" if _meant(split, sketch.blank) else "warning"
    return Finding(
        what=f"{many(len(sketch.blank), 'image')} of {split.name} {'are' if len(sketch.blank) > 1 else 'is'} one "
        f"colour all over: {split.samples(sketch.blank)}",
        why="a failed read is often replaced by an empty image, with a label that does not fit",
        remedy="look at these samples, and drop them if they are empty by accident",
        evidence=(Evidence(name="blank", value=len(sketch.blank), limit="0"),),
        confidence=0.85,
        severity=severity,
        split=split.name,
        samples=tuple(sketch.blank),
    )


def _finding(
    split: Split, what: str, why: str, count: int, severity: Severity = "warning", columns: tuple[str, ...] = ()
) -> Finding:
    return Finding(
        what=what,
        why=why,
        remedy="check how they are made (an integer division, a wrong join, a default value), or leave them out",
        evidence=(Evidence(name="constant", value=count, limit="0"),),
        confidence=0.9 if severity == "warning" else 0.7,
        severity=severity,
        split=split.name,
        columns=columns,
    )


def _y(items: list[str]) -> str:
    return "y" if len(items) > 1 else "ies"
