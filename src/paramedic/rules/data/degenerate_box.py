"""PM312."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from paramedic.findings import Severity
from paramedic.record.facts import Batch, Boxes, Corners, Edges, Forward, Input, Loader, LossCall, Model
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.lines import Places, argument_history, edited_at, first_link, loop_history, part_of, with_gradients
from paramedic.rules.support import at, by_place, many
from paramedic.static.history import Link
from paramedic.static.signs import names_any, subtracts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from paramedic.audit.audit import Audit, Split
    from paramedic.audit.chunk import Boxes as BoxesOfImage

    Numbers = NDArray[np.float64]


_OTHER_FORMAT = "they look like x, y, width, height; read as two corners, they have a negative size"
_TO_CORNERS = "boxes[:, 2:] += boxes[:, :2] turns them into corners"


@rule("PM312", "degenerate-box", severity="error", coverage=[Forward], causes=["PM1"])
def check(run: Run, *, share: float = 0.3) -> Iterator[Finding]:
    """Boxes without an area, with swapped corners, or in a different format than the code expects.

    Checked in the batches of a loader, and where the script computes intersections of boxes given as corners.

    ## Why it hurts
    A width of zero or less makes the logarithm in a box regression NaN, and the intersection over union 0 forever.

    ## What to try first
    Boxes as x, y, width, height: `boxes[:, 2:] += boxes[:, :2]` before using them as corners. Single bad boxes: drop
    them, or clip them to the image.

    ## When this is wrong
    Boxes as x, y, width, height that are never used as corners are not reported; nor are four columns that go straight
    into the model's first layer, unless they are called boxes.

    ## Options
    `share`: share of boxes with swapped corners above which they are assumed to be in another format. In an audit:
    `edge`: pixels by which a box may reach beyond its image; `tiny`: pixels that it must be wide and high; `area`: the
    share by which an area written beside it may be off; `boxes`: the fewest by which a format is judged.
    """
    turned = _turned_in_training(run) or _turned_targets(run)
    if turned is not None:
        yield turned
        return
    judged = 0
    for loader in run.facts(Loader):
        place = at(loader, loader.reader)
        for path, found in _by_path(run, loader).items():
            judged += 1
            named = "box" in path.lower() or loader.boxes
            count, bad = sum(f.count for f in found), sum(f.bad_corners for f in found)
            other = sum(f.bad_sizes for f in found) == 0
            pixels = max(f.largest for f in found) > 2
            examples = [example for f in found for example in f.examples][:1]
            if bad and bad > share * count and other and pixels:
                if _fails(run) and (named or not _are_features(run)):
                    what = f"{many(bad, 'box')} of {count:,} have x1 ≤ x0 or y1 ≤ y0, such as {examples[0]}"
                    yield _finding(Places(where=place, also=()), what, _OTHER_FORMAT, _TO_CORNERS, bad)
                    return
            elif bad and named and bad <= share * count and pixels:
                what = f"{many(bad, 'box')} of {count:,} have no area or swapped corners, such as {examples[0]}"
                remedy = "drop these boxes when loading samples"
                yield _finding(Places(where=place, also=()), what, "x1 <= x0 or y1 <= y0", remedy, bad)
    intersected = run.facts(Corners)
    count, bad = sum(op.boxes for op in intersected), sum(op.bad_corners for op in intersected)
    if bad > share * count and not any(op.bad_sizes for op in intersected):
        example = next(op.example for op in intersected if op.bad_corners)
        what = f"{many(bad, 'box')} of {count:,} used as two corners have x1 ≤ x0 or y1 ≤ y0, such as {example}"
        places = edited_at(intersected[0].where, _boxes_made(run, intersected[0]))
        yield _finding(places, what, _OTHER_FORMAT, _TO_CORNERS, bad)
    elif not judged and not intersected and not run.facts(Edges):
        raise Abstain("no loader returned boxes, and none were intersected")


def _turned_in_training(run: Run, *, fewest: int = 50, share: float = 0.05) -> Finding | None:
    """Four numbers that are corners in every sample of one loader, and often swapped in those of another.

    An augmentation mirrored each coordinate separately: the left edge is then on the right.
    """
    loaders = [(loader, _by_path(run, loader)) for loader in run.facts(Loader)]
    for loader, mine in loaders:
        for path, found in mine.items():
            others = [them[path] for other, them in loaders if other.number != loader.number and path in them]
            count, bad = sum(f.count for f in found), sum(f.bad_corners for f in found)
            whole = [sum(f.count for f in them) for them in others if not any(f.bad_corners for f in them)]
            if count < fewest or not share * count < bad < count or max(whole, default=0) < fewest:
                continue
            example = next(f.examples[0] for f in found if f.examples)
            return _finding(
                edited_at(at(loader, loader.reader), _mirroring(run, loader, path)),
                f"{many(bad, 'box')} of {count:,} have x1 ≤ x0 or y1 ≤ y0, such as {example}; none of "
                f"{max(whole):,} from another loader do",
                "a mirrored box needs its corners swapped: its left edge has become the right one",
                "where boxes are flipped: boxes[:, [0, 2]] = width - boxes[:, [2, 0]]",
                bad,
            )
    return None


def _turned_targets(run: Run, *, fewest: int = 200, share: float = 0.05) -> Finding | None:
    """Targets whose start is before their end in every row along one axis, but only in some rows along the other.

    Two points have no order along either axis, and other quantities are not on the same scale.
    """
    for edges in by_place(run.facts(Edges)).values():
        rows = sum(e.rows for e in edges)
        for axis, other in (("x", "y"), ("y", "x")):
            bad = sum(getattr(e, f"bad_{axis}") for e in edges)
            if rows < fewest or any(getattr(e, f"bad_{other}") for e in edges) or not share < bad / rows < 1 - share:
                continue
            straight = sum(getattr(e, f"straight_{axis}") for e in edges) / (rows - bad)
            turned = sum(getattr(e, f"turned_{axis}") for e in edges) / bad
            across = sum(getattr(e, f"straight_{other}") for e in edges) / rows
            alike = max(straight, turned) < 1.3 * min(straight, turned) and across < 4 * straight < 16 * across
            if not alike or min(e.narrowest for e in edges) < 0.02 * across:
                continue
            mirrored = "horizontally" if axis == "x" else "vertically"
            return _finding(
                Places(where=at(edges[0], edges[0].mirrored_at), also=()),
                f"{many(int(bad), 'target')} of {rows:,} have swapped ends along {axis}, and none along {other}: "
                f"boxes were mirrored {mirrored} without swapping their corners",
                "a mirrored box needs its corners swapped: its left edge has become the right one",
                "where boxes are flipped: boxes[:, [0, 2]] = width - boxes[:, [2, 0]]",
                int(bad),
            )
    return None


def _mirroring(run: Run, loader: Loader, path: str) -> Link | None:
    """The subtraction that swaps left and right, among the statements that compute these boxes."""
    reads = [batch.where for batch in run.facts(Batch) if batch.loader == loader.number]
    return first_link(loop_history(run, reads[0], part_of(path)), subtracts) if reads else None


def _boxes_made(run: Run, op: Corners) -> Link | None:
    """The statement that computed the target boxes, not the predicted ones."""
    models = {model.name.rpartition(".")[2] for model in run.facts(Model)}
    for position in (0, 1):
        made = argument_history(run, op.where, ("max", "maximum", "min", "minimum"), position)
        trained = [link for link in made if link.kind == "assigned" and with_gradients(link)]
        if trained and not any(names_any(link.node, models) for link in made):
            return trained[0]
    return None


def _finding(places: Places, what: str, why: str, remedy: str, bad: int) -> Finding:
    return Finding(
        what=what.replace("boxs", "boxes"),
        why=why,
        remedy=remedy,
        **places,
        evidence=(Evidence(name="boxes_without_area", value=bad, limit="0"),),
        confidence=0.9,
    )


def _by_path(run: Run, loader: Loader) -> dict[str, list[Boxes]]:
    found: dict[str, list[Boxes]] = {}
    for batch in run.facts(Batch):
        if batch.loader == loader.number:
            for tensor in batch.tensors:
                if tensor.boxes:
                    found.setdefault(tensor.path, []).append(tensor.boxes)
    return found


def _are_features(run: Run) -> bool:
    """Whether the four numbers are the input of the first layer: a table that happens to have four columns."""
    return any(event.class_ == "Linear" and event.features == 4 for event in run.facts(Input))


def _fails(run: Run) -> bool:
    """Whether the loss or its target is not finite."""
    if any(c.values is not None and c.values.target_nan for c in run.facts(LossCall)):
        return True
    return any(not math.isfinite(value) for points in run.curves("loss").values() for _, value in points[-1:])


# In an audit: the data itself, before any training.
MOST = 0.3  # of the boxes may have another area than the one beside, and of the images another size
_UNDEFINED = "the logarithm of their size and their overlap with a prediction are undefined"
_WORDS: dict[str, tuple[str, str, str, Severity]] = {
    "broken": ("with NaN or infinity", _UNDEFINED, "drop them", "error"),
    "empty": ("without area, or with swapped corners", _UNDEFINED, "drop them, or swap their corners", "error"),
    "outside": (
        "beyond the edge of the image",
        "part of the box lies outside the image",
        "clip them to the image",
        "error",
    ),
    "tiny": ("less than a pixel wide or high", "they vanish when the image is scaled down", "drop them", "note"),
}


def in_data(
    audit: Audit, *, share: float = 0.3, edge: float = 1.5, tiny: float = 1.0, area: float = 0.02, boxes: int = 8
) -> Iterator[Finding]:
    """First the format of the whole set, then single boxes."""
    judged = False
    for split in audit.splits:
        found = [(index, b) for index, b in split.sketch.boxes if len(b.numbers)]
        if not found:
            continue
        judged = True
        yield from _other_sizes(split, found)
        enough = sum(len(b.numbers) for _, b in found) >= boxes
        whole = _format(split, [b for _, b in found], share, edge) if enough else None
        if whole is not None:
            yield whole
            continue
        yield from _single(split, found, edge, tiny)
        yield from _areas(split, found, area, boxes)
    if not judged:
        raise Abstain("there are no boxes")


def _other_sizes(split: Split, boxes: list[tuple[int, BoxesOfImage]]) -> Iterator[Finding]:
    """Files that do not have the size written beside their boxes. Where most do not, a loader may well know that."""
    misfits = [(index, b) for index, b in boxes if b.stored is not None and b.size is not None]
    on_their_side = [(index, b) for index, b in misfits if b.stored == (b.size or ())[::-1]]
    for kind in (on_their_side, [one for one in misfits if one not in on_their_side]):
        if not kind:
            continue
        samples, first = [index for index, _ in kind], kind[0][1]
        turned = sum(b.turned for _, b in kind) > len(kind) / 2
        one = len(kind) == 1
        stored, size = (f"{width} × {height}" for width, height in (first.stored or (0, 0), first.size or (0, 0)))
        what = f"{len(kind):,} image{'s' * (not one)} of {split.name} {'has' if one else 'have'} another size than the "
        what += f"one beside the boxes, such as {stored} pixels instead of {size}: {split.samples(samples)}"
        why = "the picture was resized, cropped or turned after the boxes were drawn: they miss their objects"
        fix = "bring boxes and pictures to one size again"
        if turned:
            why = "the file is stored on its side and only marked as turned (EXIF): the boxes fit the upright view"
            fix = "ImageOps.exif_transpose(Image.open(path)): Image.open alone does not turn it"
        severity: Severity = "warning" if turned or len(kind) <= MOST * len(boxes) else "note"
        yield _finding_in_data(split, what, why, fix, samples, severity)


def _format(split: Split, boxes: list[BoxesOfImage], share: float, edge: float) -> Finding | None:
    import numpy as np

    numbers = np.concatenate([b.numbers for b in boxes])
    sizes = np.concatenate([np.tile(b.size or (np.inf, np.inf), (len(b.numbers), 1)) for b in boxes])
    declared = boxes[0].declared
    if np.nanmax(np.abs(numbers)) <= 1.01 and np.isfinite(sizes).all() and sizes.min() > 2:
        what = f"all {len(numbers):,} boxes of {split.name} lie between 0 and 1, but pixels are expected"
        return _finding_in_data(split, what, "they are relative to the image size", "multiply by width and height", [])
    corners = {"xyxy": numbers, "xywh": np.concatenate([numbers[:, :2], numbers[:, :2] + numbers[:, 2:]], axis=1)}
    other = "xyxy" if declared == "xywh" else "xywh"
    wrong, right = (_impossible(corners[way], sizes, edge).mean() for way in (declared, other))
    if wrong > share and right < wrong / 10:
        names = {"xyxy": "two corners (x1, y1, x2, y2)", "xywh": "corner and size (x, y, width, height)"}
        what = f"{wrong:.0%} of the boxes of {split.name} are invalid as {names[declared]}, but only {right:.0%} as "
        what += names[other]
        fix = "boxes[:, 2:] += boxes[:, :2]" if declared == "xyxy" else "boxes[:, 2:] -= boxes[:, :2]"
        columns = tuple(split.source.features.get("boxes", ())[2:])
        found = _finding_in_data(split, what, "the numbers are in the other format", f"{fix} repairs them", [])
        return replace(found, columns=columns)
    return None


def _impossible(corners: Numbers, sizes: Numbers, edge: float) -> NDArray[np.bool_]:
    import numpy as np

    empty = (corners[:, 2:] <= corners[:, :2]).any(axis=1)
    return np.asarray(empty | _outside(corners, sizes, edge))


def _outside(corners: Numbers, sizes: Numbers, edge: float) -> NDArray[np.bool_]:
    import numpy as np

    slack = np.where(np.isfinite(sizes), np.maximum(edge, 0.01 * sizes), edge)
    return np.asarray((corners[:, :2] < -slack).any(axis=1) | (corners[:, 2:] > sizes + slack).any(axis=1))


def _single(split: Split, boxes: list[tuple[int, BoxesOfImage]], edge: float, least: float) -> Iterator[Finding]:
    import numpy as np

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
            outside = ~broken & ~empty & _outside(corners, size, edge)
            tiny = ~broken & ~empty & ~outside & ((corners[:, 2:] - corners[:, :2]) < least).any(axis=1)
        for kind, hit in (("broken", broken), ("empty", empty), ("outside", outside), ("tiny", tiny & (not unit))):
            kinds[kind] += [(index, box) for box in b.numbers[hit].tolist()]
    for kind, (what, why, remedy, severity) in _WORDS.items():
        if kinds[kind]:
            samples = list(dict.fromkeys(index for index, _ in kinds[kind]))
            shown = ", ".join(f"{number:g}" for number in kinds[kind][0][1])
            count = f"{len(kinds[kind]):,} box{'es' * (len(kinds[kind]) > 1)}"
            what = f"{count} of {split.name} {what}, such as ({shown}): {split.samples(samples)}"
            yield _finding_in_data(split, what, why, remedy, samples, severity)


def _areas(split: Split, boxes: list[tuple[int, BoxesOfImage]], tolerance: float, fewest: int) -> Iterator[Finding]:
    """Boxes whose area differs from the annotated one, while nearly all others agree."""
    known = [
        (index, box, area)
        for index, b in boxes
        for box, area in zip(b.numbers.tolist(), b.areas, strict=False)
        if area is not None and b.declared == "xywh"
    ]
    wrong = [(i, box, area) for i, box, area in known if abs(box[2] * box[3] - area) > max(1.0, tolerance * area)]
    if len(known) < fewest or not 0 < len(wrong) <= MOST * len(known):
        return
    samples = list(dict.fromkeys(index for index, _, _ in wrong))
    _, box, area = wrong[0]
    numbers = ", ".join(f"{number:g}" for number in box)
    what = f"{len(wrong):,} box{'es' * (len(wrong) > 1)} of {split.name} {'have' if len(wrong) > 1 else 'has'} a "
    what += f"different area from the annotated one, such as ({numbers}) with {area:g}: {split.samples(samples)}"
    why = "the box or its format changed after the area was computed, such as corners instead of width and height"
    yield _finding_in_data(split, what, why, "correct these boxes, or recompute their areas", samples)


def _finding_in_data(
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
