"""PM321."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.rules import Abstain, Evidence, Finding, rule
from paramedic.rules.support import listed, many

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit


@rule("PM321", "outlier-sample", severity="note", reads="audit")
def check(audit: Audit, *, distance: float = 30.0) -> Iterator[Finding]:
    """A few samples are far from all others.

    Measured in each column, relative to the interquartile range. Found by `paramedic audit`; the samples come ranked,
    worst first.

    ## Why it hurts
    One value in another unit (grams for kilograms, cents for euros) or a sentinel (-999) moves means and scales, and
    gives single huge gradients.

    ## What to try first
    Look at these samples. Correct units and sentinels; clip or log-transform columns with long tails.

    ## When this is wrong
    Long tails are natural in incomes, counts and durations.

    ## Options
    `distance`: from the median, in interquartile ranges.
    """
    from paramedic.audit.models.outliers import far_values

    judged = 0
    for split in audit.splits:
        found = far_values(split, distance)
        if found is None:
            continue
        judged += 1
        if found.samples:
            columns = listed([split.feature(name, place) for name, place in found.columns])
            yield Finding(
                what=f"{many(len(found.samples), 'sample')} of {split.name} "
                f"{'is' if len(found.samples) == 1 else 'are'} far from all others in column {columns}: "
                f"{split.samples(found.samples)}",
                why=f"the value {found.value:.4g} is {found.distance:,.0f} interquartile ranges from the median "
                f"{found.median:.4g}: another unit, a marker for 'missing', or a long tail",
                remedy="look at these samples; correct units, turn markers into missing values, or take the logarithm",
                evidence=(Evidence(name="distance", value=found.distance, limit=f"< {distance:g}"),),
                confidence=0.7,
                split=split.name,
                samples=tuple(found.samples),
            )
    if not judged:
        raise Abstain("there are no columns of numbers to compare")
