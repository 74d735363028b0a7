"""PM313 in data: channels last where torch wants them first, scrambled pixels, channels swapped between splits."""

from collections.abc import Iterator

import numpy as np

from paramedic.audit.audit import Audit, Split
from paramedic.audit.checks.check import check
from paramedic.audit.chunk import Array
from paramedic.audit.sketches.pictures import CHANNELS, is_image_shape
from paramedic.findings import Evidence, Finding, Severity
from paramedic.rules.rule import Abstain

FEWEST = 16
SMOOTHER = 1.8


@check("PM313")
def wrong_layout(audit: Audit) -> Iterator[Finding]:
    """Neighbouring pixels of a picture are alike: the order of axes in which they are most alike is the true one."""
    judged = False
    for name, values in audit.train.sketch.kept.inputs.items():
        sketch = audit.train.input(name)
        if (
            isinstance(values, list)
            or not is_image_shape(sketch.shape)
            or len(sketch.shape) != 3
            or len(values) < FEWEST
        ):
            continue
        judged = True
        yield from _channels_last(audit.train, sketch.shape, sketch.type)
        yield from _scrambled(audit.train, np.asarray(values[:200], dtype=np.float32))
        if audit.val is not None:
            yield from _swapped(audit, name)
    if not judged:
        raise Abstain("there are no images with channels")


def _channels_last(split: Split, shape: tuple[int, ...], kind: str) -> Iterator[Finding]:
    last = shape[2] in CHANNELS and shape[0] not in CHANNELS
    if last and split.source.fed and "float" in kind:
        yield _finding(
            f"the images of {split.name} come as {shape[0]} × {shape[1]} × {shape[2]}, channels last",
            "torch's convolutions take the first axis for the channels",
            "image.permute(2, 0, 1), which moves the axis (view or reshape would scramble the pixels)",
            "channels_last",
            True,
            "warning",
        )


def _scrambled(split: Split, images: Array) -> Iterator[Finding]:
    """Images of (3, H, W) made by reshape from (H, W, 3): smooth when read back that way."""
    shape = images.shape[1:]
    if shape[0] != 3:
        return
    as_they_are = _roughness(images)
    back = np.moveaxis(images.reshape(len(images), shape[1], shape[2], 3), 3, 1)
    read_back = _roughness(back)
    if read_back > 0 and as_they_are > SMOOTHER * read_back:
        yield _finding(
            f"the pixels of {split.name} are scrambled: read as {shape[1]} × {shape[2]} × 3 they are "
            f"{as_they_are / read_back:.1f} times as smooth as in the shape they have, 3 × {shape[1]} × {shape[2]}",
            "view or reshape was used where the axes should have been moved",
            "permute(2, 0, 1) instead of reshape(3, H, W)",
            "roughness_ratio",
            as_they_are / read_back,
            "error",
        )


def _roughness(images: Array) -> float:
    """The mean difference of neighbours, in deviations."""
    across = np.abs(np.diff(images, axis=3)).mean()
    down = np.abs(np.diff(images, axis=2)).mean()
    return float((across + down) / max(float(images.std()), 1e-9))


def _swapped(audit: Audit, name: str) -> Iterator[Finding]:
    """Red and blue exchanged in one of the splits: each channel of val looks like the opposite one of train."""
    assert audit.val is not None
    other = audit.val.sketch.kept.inputs.get(name)
    ours = audit.train.sketch.kept.inputs[name]
    if isinstance(other, list) or other is None or isinstance(ours, list) or ours.shape[1:] != other.shape[1:]:
        return
    axis = 1 if ours.shape[1] == 3 else 3
    if ours.shape[axis] != 3 or len(other) < FEWEST:
        return
    rest = tuple(i for i in range(1, 4) if i != axis)
    one, two = ours.mean(axis=rest), other.mean(axis=rest)
    error = np.sqrt(one.var(axis=0) / len(one) + two.var(axis=0) / len(two)) + 1e-12
    straight = np.abs(one.mean(axis=0) - two.mean(axis=0)) / error
    crossed = np.abs(one.mean(axis=0) - two.mean(axis=0)[::-1]) / error
    if straight[[0, 2]].min() > 6 and crossed[[0, 2]].max() < 3:
        yield _finding(
            "red and blue of val seem exchanged: its first channel has the mean of train's third, and the reverse",
            "one part was read as RGB and the other as BGR (OpenCV)",
            "cv2.cvtColor(image, cv2.COLOR_BGR2RGB) where OpenCV reads",
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
