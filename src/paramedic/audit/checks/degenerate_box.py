"""PM312 in data: boxes without area, outside their image, or in another format than the file's."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.audit import Audit, Split
from paramedic.audit.checks.check import check
from paramedic.audit.chunk import Boxes
from paramedic.findings import Evidence, Finding, Severity
from paramedic.rules.rule import Abstain

MOST = 0.3  # share of impossible boxes above which the format is wrong, not the boxes
EDGE = 1.5  # pixels that a box may stand over, or a hundredth of the image
TINY = 1.0  # pixels
FEWEST = 8
AREA = 0.02  # by which an area may be off, rounding

Numbers = NDArray[np.float64]
_UNDEFINED = "the logarithm of the size, and the overlap with a prediction, are not defined"
_WORDS: dict[str, tuple[str, str, str, Severity]] = {
    "broken": ("with NaN or infinity", _UNDEFINED, "leave them out", "error"),
    "empty": ("without area, or with swapped corners", _UNDEFINED, "leave them out, or swap their corners", "error"),
    "outside": (
        "beyond the edge of the image",
        "part of the box lies outside the image",
        "clip them to the image",
        "error",
    ),
    "tiny": ("less than a pixel wide or high", "lost when the image is scaled down", "leave them out", "note"),
}


@check("PM312")
def degenerate_box(audit: Audit) -> Iterator[Finding]:
    """First the format of the whole set, then single boxes."""
    judged = False
    for split in audit.splits:
        boxes = [(index, b) for index, b in split.sketch.boxes if len(b.numbers)]
        if not boxes:
            continue
        judged = True
        whole = _format(split, [b for _, b in boxes])
        if whole is not None:
            yield whole
            continue
        yield from _single(split, boxes)
        yield from _areas(split, boxes)
    if not judged:
        raise Abstain("there are no boxes")


def _format(split: Split, boxes: list[Boxes]) -> Finding | None:
    numbers = np.concatenate([b.numbers for b in boxes])
    sizes = np.concatenate([np.tile(b.size or (np.inf, np.inf), (len(b.numbers), 1)) for b in boxes])
    if len(numbers) < FEWEST:
        return None
    declared = boxes[0].declared
    if np.nanmax(np.abs(numbers)) <= 1.01 and np.isfinite(sizes).all() and sizes.min() > 2:
        what = f"all {len(numbers):,} boxes of {split.name} lie between 0 and 1, where pixels are meant"
        return _finding(split, what, "they are in shares of the image's size", "multiply by width and height", [])
    corners = {"xyxy": numbers, "xywh": np.concatenate([numbers[:, :2], numbers[:, :2] + numbers[:, 2:]], axis=1)}
    other = "xyxy" if declared == "xywh" else "xywh"
    wrong, right = _impossible(corners[declared], sizes).mean(), _impossible(corners[other], sizes).mean()
    if wrong > MOST and right < wrong / 10:
        names = {"xyxy": "two corners (x1, y1, x2, y2)", "xywh": "corner and size (x, y, width, height)"}
        what = f"{wrong:.0%} of the boxes of {split.name} are impossible as {names[declared]}, but {right:.0%} as "
        what += names[other]
        fix = "boxes[:, 2:] += boxes[:, :2]" if declared == "xyxy" else "boxes[:, 2:] -= boxes[:, :2]"
        return _finding(split, what, "the numbers are in the other format", f"{fix} repairs them", [])
    return None


def _impossible(corners: Numbers, sizes: Numbers) -> NDArray[np.bool_]:
    empty = (corners[:, 2:] <= corners[:, :2]).any(axis=1)
    return np.asarray(empty | _outside(corners, sizes))


def _outside(corners: Numbers, sizes: Numbers) -> NDArray[np.bool_]:
    slack = np.where(np.isfinite(sizes), np.maximum(EDGE, 0.01 * sizes), EDGE)
    return np.asarray((corners[:, :2] < -slack).any(axis=1) | (corners[:, 2:] > sizes + slack).any(axis=1))


def _single(split: Split, boxes: list[tuple[int, Boxes]]) -> Iterator[Finding]:
    kinds: dict[str, list[tuple[int, list[float]]]] = {"empty": [], "outside": [], "tiny": [], "broken": []}
    unit = all(np.abs(b.numbers).max() <= 1.01 for _, b in boxes)  # shares of the image: pixel limits mean nothing
    for index, b in boxes:
        corners = (
            b.numbers
            if b.declared == "xyxy"
            else np.concatenate([b.numbers[:, :2], b.numbers[:, :2] + b.numbers[:, 2:]], axis=1)
        )
        size = np.asarray([b.size or (np.inf, np.inf)], dtype=np.float64)
        with np.errstate(invalid="ignore"):
            broken = ~np.isfinite(corners).all(axis=1)
            empty = ~broken & (corners[:, 2:] <= corners[:, :2]).any(axis=1)
            outside = ~broken & ~empty & _outside(corners, size)
            tiny = ~broken & ~empty & ~outside & ((corners[:, 2:] - corners[:, :2]) < TINY).any(axis=1)
        for kind, hit in (("broken", broken), ("empty", empty), ("outside", outside), ("tiny", tiny & (not unit))):
            kinds[kind] += [(index, box) for box in b.numbers[hit].tolist()]
    for kind, (what, why, remedy, severity) in _WORDS.items():
        if kinds[kind]:
            samples = list(dict.fromkeys(index for index, _ in kinds[kind]))
            shown = ", ".join(f"{number:g}" for number in kinds[kind][0][1])
            count = f"{len(kinds[kind]):,} box{'es' * (len(kinds[kind]) > 1)}"
            what = f"{count} of {split.name} {what}, as ({shown}): {split.samples(samples)}"
            yield _finding(split, what, why, remedy, samples, severity)


def _areas(split: Split, boxes: list[tuple[int, Boxes]]) -> Iterator[Finding]:
    """Boxes of another area than the one that is written beside them, where nearly all others agree with theirs."""
    known = [
        (index, box, area)
        for index, b in boxes
        for box, area in zip(b.numbers.tolist(), b.areas, strict=False)
        if area is not None and b.declared == "xywh"
    ]
    wrong = [(i, box, area) for i, box, area in known if abs(box[2] * box[3] - area) > max(1.0, AREA * area)]
    if len(known) < FEWEST or not 0 < len(wrong) <= MOST * len(known):
        return
    samples = list(dict.fromkeys(index for index, _, _ in wrong))
    _, box, area = wrong[0]
    numbers = ", ".join(f"{number:g}" for number in box)
    what = f"{len(wrong):,} box{'es' * (len(wrong) > 1)} of {split.name} {'have' if len(wrong) > 1 else 'has'} another "
    what += f"area than the one written beside, as ({numbers}) beside {area:g}: {split.samples(samples)}"
    why = "the box or its format was changed after the area was computed: two corners where a width and a height belong"
    yield _finding(split, what, why, "correct these boxes, or compute their areas again", samples)


def _finding(
    split: Split, what: str, why: str, remedy: str, samples: list[int], severity: Severity = "error"
) -> Finding:
    return Finding(
        what=what,
        why=why,
        remedy=remedy,
        evidence=(Evidence(name="images", value=len(samples) or split.size, limit="0"),),
        confidence=0.95,
        severity=severity,
        split=split.name,
        samples=tuple(samples),
    )
