"""PM315 in data: token ids that are mostly padding."""

from collections.abc import Iterator

import numpy as np

from paramedic.audit.audit import Audit
from paramedic.audit.checks.check import check
from paramedic.findings import Evidence, Finding
from paramedic.rules.rule import Abstain

SHARE = 0.5
SHORTEST = 8


@check("PM315")
def padding_waste(audit: Audit) -> Iterator[Finding]:
    """Rows of token ids that end in the same id."""
    judged = 0
    for name, values in audit.train.sketch.kept.inputs.items():
        tokens = isinstance(values, np.ndarray) and values.dtype.kind in "iu" and values.ndim == 2
        if not tokens or not audit.train.source.fed or values.shape[1] < SHORTEST or len(values) < 20:  # type: ignore[union-attr]
            continue
        judged += 1
        rows = np.asarray(values)
        if len(np.unique(rows[:, 0])) < 2 or rows.max() < 3:
            continue
        ends, counts = np.unique(rows[:, -1], return_counts=True)
        padding = ends[counts.argmax()]
        real = rows != padding
        length = np.where(real.any(axis=1), rows.shape[1] - real[:, ::-1].argmax(axis=1), 0)
        share = 1 - float(length.mean()) / rows.shape[1]
        if share > SHARE and counts.max() > 0.5 * len(rows):
            yield Finding(
                what=f"{share:.0%} of the positions of {name or 'the inputs'} are padding (id {padding}); the "
                f"longest of {len(rows):,} rows has {int(length.max())} of {rows.shape[1]} places filled",
                why="the model computes all of them",
                remedy="batch sequences of similar length together, and pad each batch to its own longest",
                evidence=(Evidence(name="padding", value=round(share, 3), limit=f"≤ {SHARE:g}"),),
                confidence=0.8,
                severity="note",
                split="train",
            )
    if not judged:
        raise Abstain("no rows of token ids were seen")
