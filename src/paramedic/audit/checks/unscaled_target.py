"""PM302 in data: targets far from where a network starts, and masks squeezed to a sliver."""

from collections.abc import Iterator

import numpy as np

from paramedic.audit.audit import Audit
from paramedic.audit.checks.check import check
from paramedic.findings import Evidence, Finding
from paramedic.rules.rule import Abstain

SCALE = 100.0
SKEW = 0.3  # of the interquartile range, by which the median lies nearer to the low quartile than to the high one


@check("PM302")
def unscaled_target(audit: Audit) -> Iterator[Finding]:
    """Large targets are a note, for a network may get there; masks divided by 255 are a warning."""
    values = audit.train.sketch.target.values
    if values.moments is None or audit.task.kind not in ("regression", "segmentation"):
        raise Abstain("the targets are not numbers to be reached")
    low, high = float(values.moments.low.min()), float(values.moments.high.max())
    mean, std = values.moments.pooled()
    size = (mean**2 + std**2) ** 0.5
    if "float" in values.type and len(values.shape) >= 2 and low >= 0 and 0 < high <= 1.01 / 255:
        yield Finding(
            what=f"the masks of train reach only {high:.4g}, where 1 is meant",
            why="masks of 0 and 1 were divided by 255",
            remedy="leave the masks at 0 and 1: only images are divided by 255",
            evidence=(Evidence(name="target_max", value=high, limit="1"),),
            confidence=0.93,
            split="train",
        )
    elif audit.task.kind == "regression" and size > SCALE:
        yield Finding(
            what=f"targets go from {low:,.4g} to {high:,.4g} (mean {mean:,.4g}, deviation {std:,.4g})",
            why="a network starts with outputs around 0 and takes long to get there",
            remedy=_advice(audit, mean, std, low),
            evidence=(Evidence(name="target_size", value=size, limit=f"< {SCALE:g}"),),
            confidence=0.7,
            severity="note",
            split="train",
            columns=(audit.train.source.label,) if audit.train.source.label else (),
        )


def _advice(audit: Audit, mean: float, std: float, low: float) -> str:
    """Of a long tail, the logarithm; always by the statistics of train."""
    labels = audit.train.sketch.target.labels
    if labels is not None and low >= 0:
        quarter, median, most = np.nanpercentile(labels.astype(np.float64), [25, 50, 75])
        if most + quarter - 2 * median > SKEW * (most - quarter):
            return "the tail is long: train on log1p(y), standardised by its mean and deviation in train, and undo both"
    return f"train on (y - {mean:.4g}) / {std:.4g}, the mean and deviation of train, and undo it for predictions"
