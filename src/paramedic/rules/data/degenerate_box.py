"""PM312."""

import math
from collections.abc import Iterator

from paramedic.findings import Where
from paramedic.record.facts import Batch, Boxes, Corners, Forward, Input, Loader, LossCall
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.support import at, many

_OTHER_FORMAT = "they look like x, y, width, height; read as two corners, they have a negative size"
_TO_CORNERS = "boxes[:, 2:] += boxes[:, :2] turns them into corners"


@rule("PM312", "degenerate-box", severity="error", needs=[Forward], causes=["PM1"])
def check(run: Run, *, share: float = 0.3) -> Iterator[Finding]:
    """Boxes without an area, with swapped corners, or in a different format than the code expects.

    Looked at in the batches of a loader, and where the script itself intersects boxes that were given as corners.

    ## Why it hurts
    A width of zero or below makes the logarithm of a box regression NaN, and an intersection over union of zero
    forever.

    ## What to try first
    Boxes as x, y, width, height: `boxes[:, 2:] += boxes[:, :2]` before they are used as corners. Single bad boxes:
    leave them out, or clip them to the image.

    ## When this is wrong
    Boxes as x, y, width, height that are never used as corners are not reported; nor are four columns that go straight
    into the model's first layer, unless they are called boxes.

    ## Options
    `share`: share of boxes with swapped corners above which they are assumed to be in another format.
    """
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
                    what = f"{many(bad, 'box')} of {count:,} end before they begin, as {examples[0]}"
                    yield _finding(place, what, _OTHER_FORMAT, _TO_CORNERS, bad)
                    return
            elif bad and named and bad <= share * count and pixels:
                what = f"{many(bad, 'box')} of {count:,} have no area or are turned around, as {examples[0]}"
                yield _finding(place, what, "x1 <= x0 or y1 <= y0", "leave these boxes out when samples are made", bad)
    intersected = run.facts(Corners)
    count, bad = sum(op.boxes for op in intersected), sum(op.bad_corners for op in intersected)
    if bad > share * count and not any(op.bad_sizes for op in intersected):
        example = next(op.example for op in intersected if op.bad_corners)
        what = (
            f"{many(bad, 'box')} of {count:,} that are intersected as two corners end before they begin, as {example}"
        )
        yield _finding(intersected[0].where, what, _OTHER_FORMAT, _TO_CORNERS, bad)
    elif not judged and not intersected:
        raise Abstain("no boxes came out of a loader or were intersected")


def _finding(where: Where, what: str, why: str, remedy: str, bad: int) -> Finding:
    return Finding(
        what=what.replace("boxs", "boxes"),
        why=why,
        remedy=remedy,
        where=where,
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
    """Whether four numbers are what the first layer gets: columns of a table that happens to have four."""
    return any(event.class_ == "Linear" and event.features == 4 for event in run.facts(Input))


def _fails(run: Run) -> bool:
    """Whether the loss, or what it compares with, is not finite."""
    if any(c.values is not None and c.values.target_nan for c in run.facts(LossCall)):
        return True
    losses = [name for name in run.series_names if name.startswith("loss:")]
    return any(not math.isfinite(value) for name in losses for _, value in run.series(name)[-1:])
