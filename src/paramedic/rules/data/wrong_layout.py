"""PM313."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.findings import Severity
from paramedic.record.facts import CrossedRows, Forward, Input, ScramblingView, TrainForward
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.lines import edited_at, first_link, model_input_history
from paramedic.rules.repaired import Repair, repaired_by
from paramedic.rules.support import at, shape
from paramedic.static.history import Link
from paramedic.static.signs import reshapes

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit, Split
    from paramedic.audit.chunk import Array


FEWEST_VALUES = 10_000  # pixels seen
VISIBLY = 0.95  # as the ratio of `smoother`, where the program is seen to reshape its pictures


@rule("PM313", "wrong-layout", severity="error", coverage=[Forward], causes=["PM207", "PM209", "PM311", "PM413"])
def check(run: Run, *, smoother: float = 0.6) -> Iterator[Finding]:
    """view() or reshape() is used where axes should have been swapped.

    `view` only regroups the same sequence of numbers; it does not move axes. Viewing (4, 20, 12) as (48, 20) mixes
    values of different time steps, channels or samples. Predictions of shape (time, batch, classes) and labels of shape
    (batch, time), both flattened, are in different orders.

    ## Why it hurts
    Each position contains values that belong to several others. The network still trains on the scrambled data, only
    worse.

    ## What to try first
    Swap the axes first: `x.permute(0, 2, 1, 3).reshape(n, time, -1)` or `x.transpose(1, 2)`.

    ## When this is wrong
    When a size matches that of another axis by chance. Merging adjacent axes, splitting one, heads, patches and pixel
    shuffles are not reported. Images with a pattern that repeats every three pixels look scrambled. Evaluation images
    whose layout differs from training are reported if a copy of the model gives far more correct predictions in the
    other layout.

    ## Options
    `smoother`: how much smoother, as a ratio, images must be with channels read as the last axis. In an audit:
    `rougher`: how much rougher, as a ratio, they must be as they are than read back; `images`: the fewest that are
    judged; `apart`: standard errors between the mean colours of train and val, to call red and blue exchanged.
    """
    told = False
    yield from map(_evaluated_otherwise, repaired_by(run, ("channels reversed", "rows and columns swapped")))
    yield from map(_crossed, run.facts(CrossedRows))
    for op in run.facts(ScramblingView):
        told = True
        old, new = shape(op.from_), shape(op.to)
        moved = [size for size in op.new_axes if size in op.axes]
        yield Finding(
            what=f"{op.function} turns {old} into {new} as if the axis of size {moved[0]} had moved, but "
            "the order of the values stays the same",
            why="view and reshape only regroup the values, so values from different positions are mixed",
            remedy="swap the axes with permute or transpose first, then reshape",
            where=op.where,
            severity="error" if op.permutation else "warning",
            evidence=(
                Evidence(name="axes_before", value=shape(op.axes)),
                Evidence(name="axes_after", value=shape(op.new_axes), limit="merged or split, not moved"),
            ),
            confidence=0.93 if op.permutation else 0.88,
        )

    if not told:
        yield from _interleaved(run, smoother)


def _interleaved(run: Run, smoother: float) -> Iterator[Finding]:
    """The images were already reshaped, perhaps in NumPy."""
    for event in run.facts(Input, phase="train"):
        here, otherwise = event.roughness, event.roughness_interleaved
        if not here or otherwise is None or event.samples < FEWEST_VALUES:
            continue
        reshaped = _reshaped(run)
        limit = smoother if reshaped is None else max(smoother, VISIBLY)
        if otherwise > limit * here:
            continue
        channels = event.shape[1]
        if len(event.shape) == 3 and otherwise > smoother * here:
            continue  # what is visible in pictures is not in series
        if len(event.shape) == 3:
            yield _series(event, here, otherwise, smoother)
            return
        yield Finding(
            what=f"the images that reach {event.module} look scrambled: neighbouring pixels differ by {here:.3g}, "
            f"and by {otherwise:.3g} if the {channels} channels are read as the last axis",
            why="images of height × width × channels were reshaped to channels × height × width, which moves no axis",
            remedy="x.permute(0, 3, 1, 2), or np.transpose(x, (0, 3, 1, 2)), instead of reshape or view",
            **edited_at(event.where, reshaped),
            severity="warning",
            evidence=(Evidence(name="roughness_ratio", value=round(otherwise / here, 3), limit=f"> {limit:g}"),),
            confidence=0.88,
        )
        return


def _series(event: Input, here: float, otherwise: float, smoother: float) -> Finding:
    _, channels, places = event.shape
    return Finding(
        what=f"the series that reach {event.module} look scrambled: neighbouring values differ by "
        f"{here / event.calls:.3g}, and "
        f"by {otherwise / event.calls:.3g} if the {channels} channels are read as the last axis",
        why=f"series of {places} × {channels} were reshaped to {channels} × {places}, which moves no axis",
        remedy="x.transpose(1, 2), or np.swapaxes(x, 1, 2), instead of reshape or view",
        where=at(event, event.reshaped_at),
        severity="warning",
        evidence=(Evidence(name="roughness_ratio", value=round(otherwise / here, 3), limit=f"> {smoother:g}"),),
        confidence=0.88,
    )


def _reshaped(run: Run) -> Link | None:
    """Where the images are reshaped to four axes on their way to the model, and no axis is moved."""
    calls = run.facts(TrainForward)
    return first_link(model_input_history(run, calls[0].where), reshapes) if calls else None


def _evaluated_otherwise(found: Repair) -> Finding:
    """The images of an evaluation have a different layout from those the model was trained on."""
    event, change, before, after = found
    return Finding(
        what=f"evaluation images have a different layout from training images: with {change}, {event.module} "
        f"is right for {after:.1%} of them instead of {before:.1%}",
        why="the model was trained on one layout and is evaluated on another",
        remedy="read both with the same function: OpenCV returns BGR, Pillow RGB"
        if change == "channels reversed"
        else "use the same order of axes for both",
        where=event.where,
        evidence=(Evidence(name="right_answers", value=round(before, 4), limit=f"{after:.4g} with {change}"),),
        confidence=0.92,
    )


def _crossed(op: CrossedRows) -> Finding:
    first, second = op.prediction
    return Finding(
        what=f"the prediction is flattened from {first} × {second}, the labels from {second} × {first}: {op.function} "
        "compares each prediction with the label of another position",
        why="flattening keeps the order of the values; one side has time first, the other the batch",
        remedy="swap the axes of one side before flattening: prediction.transpose(0, 1).reshape(-1, classes)",
        where=op.where,
        evidence=(
            Evidence(name="prediction_axes", value=shape(op.prediction), limit="those of the labels"),
            Evidence(name="label_axes", value=shape(op.target)),
        ),
        confidence=0.97,
    )


# In an audit: the data itself, before any training.
def in_data(audit: Audit, *, rougher: float = 1.8, images: int = 16, apart: float = 6.0) -> Iterator[Finding]:
    """Neighbouring pixels of an image are similar: the axis order in which they are most similar is the true one."""
    import numpy as np

    from paramedic.audit.sketches.pictures import is_image_shape

    judged = False
    for name, values in audit.train.sketch.kept.inputs.items():
        sketch = audit.train.input(name)
        if (
            isinstance(values, list)
            or not is_image_shape(sketch.shape)
            or len(sketch.shape) != 3
            or len(values) < images
        ):
            continue
        judged = True
        yield from _channels_last(audit.train, sketch.shape, sketch.type)
        yield from _scrambled(audit.train, np.asarray(values[:200], dtype=np.float32), rougher)
        if audit.val is not None:
            yield from _swapped(audit, name, images, apart)
    if not judged:
        raise Abstain("there are no images with channels")


def _channels_last(split: Split, shape: tuple[int, ...], kind: str) -> Iterator[Finding]:
    from paramedic.audit.sketches.pictures import CHANNELS

    last = shape[2] in CHANNELS and shape[0] not in CHANNELS
    if last and split.source.fed and "float" in kind:
        yield _finding(
            f"the images of {split.name} come as {shape[0]} × {shape[1]} × {shape[2]}, channels last",
            "torch's convolutions expect channels first",
            "image.permute(2, 0, 1), which moves the axis (view or reshape would scramble the pixels)",
            "channels_last",
            True,
            "warning",
        )


def _scrambled(split: Split, images: Array, rougher: float) -> Iterator[Finding]:
    """Images of (3, H, W) made by reshape from (H, W, 3): smooth when read back that way."""
    import numpy as np

    shape = images.shape[1:]
    if shape[0] != 3:
        return
    as_they_are = _roughness(images)
    back = np.moveaxis(images.reshape(len(images), shape[1], shape[2], 3), 3, 1)
    read_back = _roughness(back)
    if read_back > 0 and as_they_are > rougher * read_back:
        yield _finding(
            f"the pixels of {split.name} are scrambled: read as {shape[1]} × {shape[2]} × 3 they are "
            f"{as_they_are / read_back:.1f} times as smooth as in their own shape, 3 × {shape[1]} × {shape[2]}",
            "view or reshape was used where the axes should have been moved",
            "permute(2, 0, 1) instead of reshape(3, H, W)",
            "roughness_ratio",
            as_they_are / read_back,
            "error",
        )


def _roughness(images: Array) -> float:
    """The mean difference of neighbours, in standard deviations."""
    import numpy as np

    across = np.abs(np.diff(images, axis=3)).mean()
    down = np.abs(np.diff(images, axis=2)).mean()
    return float((across + down) / max(float(images.std()), 1e-9))


def _swapped(audit: Audit, name: str, images: int, apart: float) -> Iterator[Finding]:
    """Red and blue swapped in one split: each channel of val looks like the opposite one of train."""
    import numpy as np

    assert audit.val is not None
    other = audit.val.sketch.kept.inputs.get(name)
    ours = audit.train.sketch.kept.inputs[name]
    if isinstance(other, list) or other is None or isinstance(ours, list) or ours.shape[1:] != other.shape[1:]:
        return
    axis = 1 if ours.shape[1] == 3 else 3
    if ours.shape[axis] != 3 or len(other) < images:
        return
    rest = tuple(i for i in range(1, 4) if i != axis)
    one, two = ours.mean(axis=rest), other.mean(axis=rest)
    error = np.sqrt(one.var(axis=0) / len(one) + two.var(axis=0) / len(two)) + 1e-12
    straight = np.abs(one.mean(axis=0) - two.mean(axis=0)) / error
    crossed = np.abs(one.mean(axis=0) - two.mean(axis=0)[::-1]) / error
    if straight[[0, 2]].min() > apart and crossed[[0, 2]].max() < apart / 2:
        yield _finding(
            "red and blue of val seem swapped: its first channel has the mean of train's third, and vice versa",
            "one split was read as RGB and the other as BGR (OpenCV)",
            "cv2.cvtColor(image, cv2.COLOR_BGR2RGB) after cv2.imread",
            "channel_distance",
            float(straight[[0, 2]].min()),
            "warning",
        )


def _finding(what: str, why: str, remedy: str, name: str, value: float, severity: Severity) -> Finding:
    return Finding(
        what=what,
        why=why,
        remedy=remedy,
        evidence=(Evidence(name=name, value=value),),
        confidence=0.9,
        severity=severity,
        split="val" if "val" in what.split()[:5] else "train",
    )
