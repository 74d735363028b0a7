"""PM208."""

from collections.abc import Iterator
from statistics import median

from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.curves import Curve
from paramedic.rules.outcome import outcome


@rule("PM208", "diverging-loss", severity="error", needs=["backward"], causes=["PM109", "PM207", "PM209"], symptom=True)
def check(run: Run, *, growth: float = 100.0) -> Iterator[Finding]:
    """The loss grows by orders of magnitude.

    ## Why it hurts
    The model gets worse with every step; what it had learnt is lost.

    ## What to try first
    A learning rate ten times lower, and gradient clipping. If it grows from epoch to epoch, look for data that change
    when they are read: a transform that works in place scales the same samples again and again.

    ## When this is wrong
    Losses that are sums, written by hand, or part of a game between networks are not judged. A loss that starts near
    zero and levels off, as in reinforcement learning, is not diverging.

    ## Options
    `growth`: how many times larger than in the beginning, or than guessing, the loss must be.
    """
    judged = outcome(run)
    curve = judged.curve
    reference = max(curve.start, curve.first)
    if reference <= 0:
        return
    late = median(curve.values[-max(3, len(curve.values) // 10) :])
    guess = judged.prior or 0.0
    settled = late < 10 * guess and not _still_growing(curve)
    if late < growth * reference or settled or (curve.task == "cross_entropy" and late < 10 * guess):
        return
    yield Finding(
        what=f"the loss grew from {reference:.3g} to {late:.3g} in {curve.steps:,} steps",
        why="the model gets worse with every step",
        remedy="lower the learning rate tenfold; if it grows from epoch to epoch, look for data changed in place "
        "(-=, /=, *_() ) where they are read",
        where=curve.where,
        evidence=(Evidence(name="growth", value=float(f"{late / reference:.3g}"), limit=f"< {growth:g}"),),
        confidence=0.9,
    )


def _still_growing(curve: Curve) -> bool:
    """Whether the last fifth is clearly above the one before, and that above the one before it."""
    size = max(3, len(curve.values) // 5)
    last, before, earlier = (median(curve.values[-n * size :][:size]) for n in (1, 2, 3))
    return curve.broke or (last > 3 * before and before > 1.5 * earlier)
