"""PM105 in data: NaN, infinity and missing values."""

from collections.abc import Iterator

import numpy as np

from paramedic.audit.audit import Audit, Split
from paramedic.audit.checks.check import check
from paramedic.findings import Evidence, Finding
from paramedic.rules.support import listed, many


@check("PM105")
def non_finite_input(audit: Audit) -> Iterator[Finding]:
    """An error in what a network is fed; a note on the blanks of a table, which are filled before training."""
    for split in audit.splits:
        for name, sketch in split.sketch.inputs.items():
            if sketch.bad_count:
                yield _input(split, name)
        missing = split.sketch.target.missing
        if missing:
            yield Finding(
                what=f"{many(len(missing), 'sample')} of {split.name} have no valid target: {split.samples(missing)}",
                why="a target that is NaN or empty makes the loss NaN, or is learnt as a class of its own",
                remedy="drop these samples, or find their targets",
                evidence=(Evidence(name="missing_targets", value=len(missing), limit="0"),),
                confidence=0.97,
                severity="error" if split.source.kind != "table" else "warning",
                split=split.name,
                samples=tuple(missing),
            )


def _input(split: Split, name: str) -> Finding:
    sketch = split.input(name)
    kind = "missing or NaN" if split.source.kind == "table" else "NaN"
    kind = "infinite" if sketch.infinite == sketch.bad_count else kind
    lacking = _lacking(split, name)
    columns = _columns(split, name, lacking)
    fed = split.source.kind != "table"
    rows = sketch.bad_rows
    return Finding(
        what=f"{many(sketch.bad_count, f'{kind} value')} in {many(len(rows), 'sample')} of {split.name}{columns}: "
        f"{split.samples(rows)}",
        why="one of them makes the loss NaN, and after the next step every weight"
        if fed
        else "a network cannot be fed them: the loss becomes NaN",
        remedy="clean or drop these samples; look for a division by zero or a failed read"
        if fed
        else "fill them with a value of the training part (fill_null), or drop the rows, before training",
        evidence=(
            Evidence(name="not_finite", value=sketch.bad_count, limit="0"),
            Evidence(name="infinite", value=sketch.infinite, limit="0"),
        ),
        severity="error" if fed or sketch.infinite else "note",
        confidence=0.97,
        split=split.name,
        samples=tuple(rows),
        columns=split.columns(name, lacking),
    )


def _lacking(split: Split, name: str) -> list[int]:
    """Columns with such values, those with most of them first; none where samples are no rows of a table."""
    moments = split.input(name).moments
    if moments is None or len(moments.mean) == 1 or len(split.input(name).shape) != 1 or split.pixel_like:
        return []
    missing = split.input(name).count - moments.count
    return [int(i) for i in np.argsort(-missing, kind="stable") if missing[i] > 0]


def _columns(split: Split, name: str, places: list[int]) -> str:
    if not places:
        return f" ({name})" if name not in ("", "numbers") else ""
    return f" (column{'s' * (len(places) > 1)} {listed([split.feature(name, i) for i in places])})"
