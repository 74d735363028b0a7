"""PM511."""

import math
from collections.abc import Iterator
from statistics import median

from paramedic.record.facts import Terms
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.support import by_place


@rule("PM511", "dominated-loss-term", severity="note", needs=[Terms])
def check(run: Run, *, ratio: float = 100.0, fewest: int = 5) -> Iterator[Finding]:
    """One term of the loss dominates another by orders of magnitude.

    ## Why it hurts
    The optimizer sees only the sum. A term that is a hundred times smaller has almost no influence on the weights.

    ## What to try first
    Log both terms; weight them so that they are of the same order at the start.

    ## When this is wrong
    A penalty is meant to be small; only dominated loss functions of torch are reported, and only as a note. A term may
    have small values and large gradients.

    ## Options
    `ratio`: between the two terms; `fewest`: examined steps in all of which it must be so large.
    """
    for group in by_place(run.facts(Terms)).values():
        ratios = []
        for event in group:
            if not all(map(math.isfinite, event.values)):
                break  # another illness
            large, small = sorted(map(abs, event.values), reverse=True)
            which = [abs(value) for value in event.values].index(small)
            if event.kinds[which] is None or small == 0:
                break  # the smaller one is not a loss function by itself
            ratios.append(large / small)
        if len(ratios) < max(fewest, len(group)) or min(ratios) < ratio:
            continue
        last = group[-1]
        which = min((0, 1), key=lambda i: abs(last.values[i]))
        small, large = last.values[which], last.values[1 - which]
        yield Finding(
            what=f"the {last.kinds[which]} term ({small:.3g}) is dominated by the other one ({large:.3g}): "
            f"{median(ratios):,.0f} times larger",
            why="the optimizer sees only the sum, so the small term has almost no influence",
            remedy="scale the terms to the same order: lower the large one's weight",
            where=group[0].where,
            evidence=(Evidence(name="ratio", value=float(f"{median(ratios):.3g}"), limit=f"< {ratio:g}"),),
            confidence=0.7,
        )
    if not run.facts(Terms):
        raise Abstain("no sum of losses was examined")
