"""What PM304, PM311, PM320 and PM323 say of targets with a class for every pixel or token."""

from collections.abc import Iterator

import numpy as np

from paramedic.audit.audit import Audit, Split
from paramedic.audit.models.masks import better_fit
from paramedic.audit.models.outlines import misfits, of_other_values, smeared
from paramedic.findings import Evidence, Finding, Severity
from paramedic.findings.words import listed, plural

IGNORED = (-100, -1, 255)  # usual values for "leave this out"
FEWEST = 20  # samples
MISFITS = 0.1
BETWEEN = 30  # different values between 0 and 255 that interpolation leaves
ENDS = 0.85  # of all pixels that are 0 or 255 all the same


def is_dense(audit: Audit) -> bool:
    kinds = ("segmentation", "sequence")
    return audit.task.kind in kinds and audit.train.sketch.dense.known


def out_of_range(split: Split, rare: float) -> Iterator[Finding]:
    """PM304: classes that no output will have."""
    dense = split.sketch.dense
    values = sorted(dense.elements)
    if dense.count < FEWEST or len(values) < 2 or not dense.pictures:
        return
    beyond = [v for v in values if split.source.outputs is not None and v >= split.source.outputs and v not in IGNORED]
    if beyond and split.source.outputs is not None:
        yield _without_output(split, values, beyond, split.source.outputs)
    elif values[-1] == 255 and _interpolated(split):
        yield _finding(
            split,
            f"the masks of {split.name} hold {len(values)} different values between 0 and 255",
            "0 and 255 make up nearly all pixels: the others come from resizing with interpolation, or from JPEG",
            "resize masks with interpolation=NEAREST, store them as PNG; then mask = (mask > 127).long()",
            len(values),
            "warning",
        )
    elif values == [0, 255]:
        yield _finding(
            split,
            f"the masks of {split.name} hold 0 and 255 only",
            "as class numbers these need 256 outputs, and as a target of 0 to 1 they are 255 times too large",
            "mask = (mask > 127).long() for cross_entropy, .float() for BCEWithLogitsLoss",
            255,
            "warning" if split.source.fed else "note",
        )
    else:
        yield from _strays(split, values, rare)


def _without_output(split: Split, values: list[int], beyond: list[int], outputs: int) -> Finding:
    """Grey values are spread out; labels that go on where the outputs end are not."""
    grey = len([value for value in values if value not in IGNORED]) <= outputs and beyond[-1] > 2 * outputs
    return _finding(
        split,
        f"the masks of {split.name} hold the classes {listed(map(str, values), 8)}, but the model has {outputs} "
        f"outputs (0 to {outputs - 1})",
        "they are grey levels, not classes: a mask with a palette loses its numbers in .convert('L')"
        if grey
        else "there is no output for those classes: cross_entropy fails on them",
        "read the masks without convert(), or number their values: torch.searchsorted(values, mask)"
        if grey
        else f"map the classes to 0 … {outputs - 1}, or widen the last layer",
        beyond[0],
        "error",
    )


def _interpolated(split: Split) -> bool:
    dense = split.sketch.dense
    whole = sum(dense.elements.values())
    ends = [dense.elements[0], dense.elements[255]]
    between = len(dense.elements) - 2
    often = dense.count - len(dense.even) > 0 and between >= BETWEEN
    return often and min(ends) > 0.01 * whole and sum(ends) > ENDS * whole


def _strays(split: Split, values: list[int], rare: float) -> Iterator[Finding]:
    dense = split.sketch.dense
    usual = [value for value in values if dense.holders[value] > max(2, rare * dense.count) and value not in IGNORED]
    if len(usual) < 2 or usual[0] not in (0, 1):
        return
    stray = [v for v in values if v not in usual and v not in IGNORED and (v < 0 or v > usual[-1] + 1)]
    if stray and dense.count >= 50:
        samples = sorted({sample for value in stray for sample in dense.samples[value]})
        yield _finding(
            split,
            f"{plural(len(samples), 'sample')} of {split.name} hold the class {listed([str(v) for v in stray])}, all "
            f"others {usual[0]} to {usual[-1]}: {split.samples(samples)}",
            "there will be no output for it: cross_entropy fails on the batch that contains it",
            "correct these samples, or give the value as ignore_index",
            stray[0],
            "error" if split.source.fed else "warning",
            samples,
        )
    marks = [value for value in (-1, 255) if value in values and not usual[0] <= value <= usual[-1] + 1]
    if marks:
        yield _finding(
            split,
            f"{_share(split, marks[0]):.1%} of the elements of {split.name} have the class {marks[0]}, which usually "
            "marks what should be ignored",
            "cross_entropy fails on it unless it is given as ignore_index",
            f"nn.CrossEntropyLoss(ignore_index={marks[0]})",
            marks[0],
            "note",
        )


def misfitting(split: Split) -> Iterator[Finding]:
    """PM320: targets of another size than their inputs."""
    dense = split.sketch.dense
    total = sum(dense.fits.values())
    thing, word = ("mask", "image") if dense.pictures else ("row of labels", "input")
    strange = sorted({*dense.misfits.get("other", []), *dense.misfits.get("turned", [])})
    if total < FEWEST or not strange:
        return
    if dense.pictures and dense.fits["turned"] > 0.5 * total:
        what = f"the masks of {split.name} are transposed: as high as their images are wide"
        why = "height and width were exchanged when one of the two was read (Pillow gives width × height)"
    elif dense.fits["same"] >= (1 - MISFITS) * total:
        what = f"{total - dense.fits['same']:,} {thing}s of {split.name} do not have the size of their {word}: "
        what += split.samples(strange)
        why = f"the loss compares the {word} with its {thing} element by element"
    else:
        return  # smaller or longer targets are meant to be so
    yield _finding(split, what, why, "bring both to one size, in the same way", len(strange), "error", strange)


def between_classes(split: Split) -> Iterator[Finding]:
    """PM304: masks whose outlines, or all of which, hold classes that are not there."""
    other = of_other_values(split) if split.sketch.dense.pictures else None
    if other is not None:
        yield _finding(
            split,
            f"{plural(len(other.samples), 'mask')} of {split.name} hold up to {other.worst:.0f} different values, the "
            f"median mask {other.usual:.0f}: {split.samples(other.samples)}",
            "they are grey levels, not classes: exported as a picture, or resized with interpolation",
            "export them again as class numbers, and resize with interpolation=NEAREST",
            other.worst,
            "warning",
            other.samples,
        )
    found = smeared(split) if split.sketch.dense.pictures else None
    if found is not None:
        yield _finding(
            split,
            f"the outlines of {plural(len(found.samples), 'mask')} of {split.name} are smeared: up to "
            f"{found.worst:.0%} of them are of a class between the two that meet there, {found.usual:.0%} in the other "
            f"masks: {split.samples(found.samples)}",
            "they were resized with interpolation, which takes the mean of class numbers: between 0 and 2 lies 1",
            "resize these masks again from the originals, with interpolation=NEAREST",
            found.worst,
            "warning",
            found.samples,
        )


def off_their_objects(split: Split) -> Iterator[Finding]:
    """PM310: masks that do not cover what is to be seen in their images."""
    found = misfits(split) if split.sketch.dense.pictures else None
    if found is not None:
        yield _finding(
            split,
            f"the objects of {plural(len(found.samples), 'image')} of {split.name} are not what their masks cover: "
            f"overlap with what the colours tell {found.worst:.0%}, in the median mask {found.usual:.0%}: "
            f"{split.samples(found.samples)}",
            "they are empty, eroded, moved, or of another image: each teaches that objects are ground",
            "look at these masks over their images, and draw or convert them again",
            found.worst,
            "warning",
            found.samples,
        )


def wrongly_laid(audit: Audit) -> Iterator[Finding]:
    """PM311: masks that fit their images only when they are changed."""
    for split in audit.splits:
        found = better_fit(split)
        if found is not None:
            yield _finding(
                split,
                f"the masks of {split.name} fit their images when {found.how}, and not as they are: they explain "
                f"{found.then:.0%} of the pixels' variation then, {found.now:.0%} now",
                "image and mask were read, turned or listed in different ways",
                "look at ten images with their masks; do to the mask what is done to the image, and pair files by name",
                round(found.then, 3),
                "error",
            )


def never_seen(audit: Audit, share: float) -> Iterator[Finding]:
    """PM323: classes of val that train lacks, and masks without any class."""
    train = audit.train.sketch.dense
    if train.count >= FEWEST and len(train.elements) == 1 and train.pictures:
        yield _finding(
            audit.train,
            f"all masks of train are {next(iter(train.elements))} everywhere",
            "there is no object to learn: the masks were read, thresholded or converted wrongly",
            "look at a mask file; beware of (mask > 127) on masks of 0 and 1",
            train.count,
            "warning",
        )
    if audit.val is None or not audit.val.sketch.dense.known:
        return
    val = audit.val.sketch.dense
    strange = [v for v in sorted(val.holders) if v not in train.holders and v not in IGNORED]
    samples = sorted({sample for value in strange for sample in val.samples[value]})
    if len(samples) >= max(3, share * val.count) and train.count >= FEWEST and len(train.elements) > 1:
        yield _finding(
            audit.val,
            f"{len(samples):,} samples of val hold a class that train never has: {listed([str(v) for v in strange])}",
            "the model cannot learn it",
            "split so that every class is in both parts, or leave these samples out",
            len(strange),
            "warning" if val.pictures else "note",  # of tokens, some are rare
            samples,
        )


def shares(split: Split) -> str:
    """'0 81.2%, 1 12.0%, 2 6.8% of the pixels; 3 samples of one class all over'."""
    dense = split.sketch.dense
    total = sum(dense.elements.values())
    shown = [f"{value} {count / total:.1%}" for value, count in dense.elements.most_common(8)]
    more = f" and {len(dense.elements) - 8} more" if len(dense.elements) > 8 else ""
    of = "pixels" if dense.pictures else "tokens"
    even = f"; {plural(len(dense.even), 'mask')} of one class all over" if dense.even and dense.pictures else ""
    return f"{', '.join(shown)}{more} of the {of}{even}"


def _share(split: Split, value: int) -> float:
    elements = split.sketch.dense.elements
    return elements[value] / max(sum(elements.values()), 1)


def _finding(
    split: Split, what: str, why: str, remedy: str, value: float, severity: Severity, samples: list[int] | None = None
) -> Finding:
    return Finding(
        what=what,
        why=why,
        remedy=remedy,
        evidence=(Evidence(name="dense_labels", value=float(np.round(value, 4))),),
        confidence=0.7 if severity == "note" else 0.92,
        severity=severity,
        split=split.name,
        samples=tuple(samples or ()),
    )
