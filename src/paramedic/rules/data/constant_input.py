"""PM303."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.findings import Severity
from paramedic.record.facts import Batch, Columns, Forward, Input, Loader, TrainForward
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.lines import Places, edited_at, first_link, input_assembled, model_input_history
from paramedic.rules.outcome import outcome
from paramedic.rules.support import at, listed, many
from paramedic.static.history import Link
from paramedic.static.signs import makes_alike

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit, Split
    from paramedic.audit.sketches.inputs import InputSketch


_FEW = 8  # numbers that may well be the same


@rule("PM303", "constant-input", severity="warning", coverage=[Forward], causes=["PM209", "PM207"])
def check(run: Run, *, fewest: int = 4) -> Iterator[Finding]:
    """Every sample has the same input, or the same value in a column of a small table (then a note).

    Checked in the batches of a loader or, without one, at the first layer of the model.

    ## Why it hurts
    There is nothing to learn from. Typical causes: integer division that gives zeros (`image // 255`), a file that
    failed to load and was replaced by zeros, a wrong index.

    ## What to try first
    Look at a few samples as the loader returns them.

    ## When this is wrong
    When the input carries no information on purpose; without a loader, nothing is reported for a model that learns. A
    single constant column may be intended, or be a state that is still zero. In wide tables, such as the pixels of
    images, only `paramedic audit` reports it.

    ## Options
    `fewest`: fewest batches seen. In an audit: `samples`: fewest samples judged; `wide`: unnamed columns from which a
    constant one is a note; `blank`: share of blank images, of all or of a class, above which they are meant.
    """
    yield from _columns(run)
    trained = {event.loader for event in run.facts(TrainForward)}
    judged = 0
    for loader in run.facts(Loader):
        batches = [b for b in run.facts(Batch) if b.loader == loader.number and b.tensors]
        if loader.number not in trained or len(batches) < fewest:
            continue
        inputs = [batch.tensors[0] for batch in batches]
        measured = [t.values for t in inputs if t.values and "float" in t.dtype and t.values.size > _FEW]
        judged += bool(measured)
        value = measured[0].min if measured else 0.0
        if len(measured) >= fewest and all(v.min == v.max == value for v in measured):
            places = edited_at(at(loader, loader.reader), _blanking(run))
            yield _finding(f"of {len(measured)} examined training batches", value, places)
    if not trained - {None}:
        for event in run.facts(Input, phase="train"):
            judged += 1
            if event.calls >= fewest and event.features > _FEW and event.min == event.max and _stuck(run):
                places = edited_at(event.where, _blanking(run))
                yield _finding(f"of {event.module} in {event.calls} calls", event.min, places)
                return
    if not judged:
        raise Abstain("no batches of floating-point inputs were seen in training")


def _columns(run: Run, *, widest: int = 32, fewest_rows: int = 64) -> Iterator[Finding]:
    """In a small table each column was chosen on purpose: one that never varies was meant to carry information."""
    for table in run.facts(Columns, phase="train"):
        constant = [i for i, (low, high) in enumerate(zip(table.low, table.high, strict=True)) if low == high]
        if table.rows < fewest_rows or len(table.low) > widest or not 0 < len(constant) < len(table.low):
            continue
        values = [f"{i} (always {table.low[i]:g})" for i in constant]
        yield Finding(
            what=f"the input of {table.module} has columns that never vary in {table.rows:,} rows: {listed(values)}",
            why="they carry no information: a comparison that is never true, or a key that is never found?",
            remedy=f"print a few rows of column {constant[0]} (counted from 0), and check how it is computed",
            **edited_at(table.where, input_assembled(run)),
            evidence=(Evidence(name="constant_columns", value=constant[:20], limit="none"),),
            confidence=0.8,
            severity="note",
        )


def _blanking(run: Run) -> Link | None:
    """The statement on the way to the model's input that can make all of it constant."""
    calls = run.facts(TrainForward)
    return first_link(model_input_history(run, calls[0].where), makes_alike) if calls else None


def _finding(which: str, value: float, places: Places) -> Finding:
    return Finding(
        what=f"all inputs {which} are {value:g} everywhere",
        why="every sample looks the same to the model",
        remedy="check how samples are created: a failed load, an integer division, a wrong index",
        **places,
        evidence=(Evidence(name="range", value=0.0, limit="> 0"),),
        confidence=0.93,
    )


def _stuck(run: Run) -> bool:
    """The model learns from another of its inputs."""
    try:
        return outcome(run).bad
    except Abstain:
        return False


# In an audit: the data itself, before any training.
def in_data(audit: Audit, *, samples: int = 20, wide: int = 64, blank: float = 0.2) -> Iterator[Finding]:
    """Pixels at the border of images may be constant; a named column, a channel or a whole image may not."""
    import numpy as np

    from paramedic.audit.sketches.pictures import is_image_shape

    split = audit.train
    if split.size < samples:
        raise Abstain(f"only {split.size} samples in {split.name}")
    for name, sketch in split.sketch.inputs.items():
        if sketch.type == "text" and len(sketch.words) == 1:
            what = f"{name!r} of {split.name} is {next(iter(sketch.words))!r} in all {split.size:,} samples"
            usual: Severity = "warning" if split.source.fed else "note"  # of a study, a country, a unit
            yield _finding_in_data(split, what, "a constant carries no information", 1, usual, (name,))
        if sketch.moments is None:
            continue
        constant = sketch.moments.constant
        if constant.all():
            what = f"all {split.size:,} samples of {split.name} have the same input"
            yield _finding_in_data(split, what, "nothing distinguishes them", len(constant))
        elif is_image_shape(sketch.shape):
            yield from _channels(split, sketch)
        elif constant.any() and not split.pixel_like and len(sketch.shape) == 1 and "int" not in sketch.type:
            columns = [split.feature(name, int(i)) for i in np.flatnonzero(constant)]
            what = f"column{'s' * (len(columns) > 1)} {listed(columns, 6)} of {split.name} never var{_y(columns)}"
            why = "a constant carries no information, and standardising it divides by zero"
            severity: Severity = "note" if _usual(split, name, sketch, wide) else "warning"
            named = split.columns(name, np.flatnonzero(constant).tolist())
            yield _finding_in_data(split, what, why, len(columns), severity, named)
        if is_image_shape(sketch.shape) and sketch.blank and not constant.all():
            yield _blank(split, sketch, blank)


def _usual(split: Split, name: str, sketch: InputSketch, wide: int) -> bool:
    """Rows in which constant columns are normal: wide features without names, one-hot columns, the bias."""
    import numpy as np

    moments = sketch.moments
    assert moments is not None
    if not split.source.features.get(name) and len(moments.mean) >= wide:
        return True
    places = np.flatnonzero(moments.constant).tolist()
    ones = len(places) == 1 and moments.low[places[0]] == 1
    if ones and (places in ([0], [len(moments.mean) - 1]) or not split.source.fed):
        return True  # a column of ones stands for the bias
    flags = int(((moments.low == 0) & (moments.high == 1)).sum())
    return flags >= 3 and bool((moments.low[moments.constant] == 0).all())


def _channels(split: Split, sketch: InputSketch) -> Iterator[Finding]:
    import numpy as np

    from paramedic.audit.sketches.pictures import channel_axis

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
        yield _finding_in_data(split, what, "a channel was lost when the images were read or combined", len(flat))


def _meant(split: Split, blank: list[int], most: float) -> bool:
    """Whether blank images are a class, or common: empty tiles, slices outside the body."""
    import numpy as np

    if len(blank) > most * split.size or split.sketch.boxes or split.sketch.dense.known:
        return True
    target = split.sketch.target
    if target.labels is None:
        return False
    empty = np.isin(target.samples, blank)
    classes = np.unique(target.labels[empty])
    return len(classes) == 1 and float(empty[target.labels == classes[0]].mean()) > most


def _blank(split: Split, sketch: InputSketch, most: float) -> Finding:
    severity: Severity = "note" if _meant(split, sketch.blank, most) else "warning"
    return Finding(
        what=f"{many(len(sketch.blank), 'image')} of {split.name} {'are' if len(sketch.blank) > 1 else 'is'} a "
        f"single colour: {split.samples(sketch.blank)}",
        why="an image that failed to load is often replaced by a blank one, which does not match its label",
        remedy="look at these samples, and drop them if they are blank by accident",
        evidence=(Evidence(name="blank", value=len(sketch.blank), limit="0"),),
        confidence=0.85,
        severity=severity,
        split=split.name,
        samples=tuple(sketch.blank),
    )


def _finding_in_data(
    split: Split, what: str, why: str, count: int, severity: Severity = "warning", columns: tuple[str, ...] = ()
) -> Finding:
    return Finding(
        what=what,
        why=why,
        remedy="check how they are computed (an integer division, a wrong join, a default value), or drop them",
        evidence=(Evidence(name="constant", value=count, limit="0"),),
        confidence=0.9 if severity == "warning" else 0.7,
        severity=severity,
        split=split.name,
        columns=columns,
    )


def _y(items: list[str]) -> str:
    return "y" if len(items) > 1 else "ies"
