"""PM511."""

import math
from collections.abc import Iterator
from statistics import median

from paramedic.record.facts import Terms
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.support import by_place


@rule("PM511", "dominated-loss-term", severity="warning", needs=[Terms])
def check(run: Run, *, ratio: float = 100.0, drowned: float = 1e4, fewest: int = 5) -> Iterator[Finding]:
    """One term of the loss dominates another by orders of magnitude.

    ## Why it hurts
    The optimizer sees only the sum. A term that is a hundred times smaller has almost no influence on the weights.

    ## What to try first
    Log both terms; weight them so that they have the same order of magnitude at the start.

    ## When this is wrong
    A penalty is meant to be small; only dominated torch loss functions are reported, and only as a note. A term may
    have small values and large gradients. It is a warning if the smaller term is ten thousand times smaller, does not
    fall, and was not multiplied by anything: `1e-4 * term` is meant to be small.

    ## Options
    `ratio`: between the two terms; `drowned`: the ratio above which it is a warning; `fewest`: fewest examined steps,
    in all of which the ratio must be that large.
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
        yield _finding(group, ratios, ratio, drowned)
    if not run.facts(Terms):
        raise Abstain("no sum of losses was examined")


def _finding(group: list[Terms], ratios: list[float], ratio: float, drowned: float) -> Finding:
    first, last, typical = group[0], group[-1], median(ratios)
    which = min((0, 1), key=lambda i: abs(last.values[i]))
    small, large = last.values[which], last.values[1 - which]
    lost = min(ratios) >= drowned and _stands_still([event.values[which] for event in group])
    lost = lost and all(len(event.direct) > which and event.direct[which] for event in group)
    still = f"; it was {first.values[which]:.3g} in the first step and has not fallen" if lost else ""
    return Finding(
        what=f"the {last.kinds[which]} term ({small:.3g}) is dominated by the other one ({large:.3g}): "
        f"{f'{typical:,.0f}' if typical < 1e6 else f'{typical:.0e}'} times larger",
        why=f"the optimizer sees only the sum, so the small term has almost no influence{still}",
        remedy="scale the terms to the same order: lower the large one's weight"
        + (", or divide its targets by their spread" if lost else ""),
        where=first.where,
        severity="warning" if lost else "note",
        evidence=(Evidence(name="ratio", value=float(f"{typical:.3g}"), limit=f"< {drowned if lost else ratio:g}"),),
        confidence=0.9 if lost else 0.7,
    )


def _stands_still(values: list[float], *, fewest: int = 12) -> bool:
    """Whether a term is at the end where it was at the beginning, or higher."""
    part = len(values) // 4
    return len(values) >= fewest and median(values[-part:]) > 0.9 * median(values[:part])
