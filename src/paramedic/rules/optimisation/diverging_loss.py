"""PM208."""

from collections.abc import Iterator
from dataclasses import replace
from statistics import median

from paramedic.record.facts import Backward
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.curves import Curve
from paramedic.rules.outcome import explosion, outcome

_CAUSES = ["PM101", "PM102", "PM103", "PM104", "PM106", "PM109", "PM207", "PM209"]


@rule("PM208", "diverging-loss", severity="error", needs=[Backward], causes=_CAUSES, symptom=True)
def check(run: Run, *, growth: float = 100.0) -> Iterator[Finding]:
    """The loss grows by orders of magnitude.

    ## Why it hurts
    The model gets worse with every step and loses what it had learnt.

    ## What to try first
    A learning rate ten times lower, and gradient clipping. If it grows from epoch to epoch, look for data that is
    modified when read: an in-place transform scales the same samples again and again.

    ## When this is wrong
    Losses that are sums, hand-written, or part of a game between networks are not judged. A loss that starts near zero
    and levels off or comes down again, as in reinforcement learning, is not diverging.

    ## Options
    `growth`: how many times larger than at the start, or than guessing, the loss must be.
    """
    exploded = explosion(run)
    if exploded is not None:
        yield _exploded(run, *exploded)
        return
    judged = outcome(run)
    curve = judged.curve
    reference = max(curve.start, curve.first)
    if reference <= 0:
        return
    late = median(curve.values[-max(3, len(curve.values) // 10) :])
    guess = judged.prior or 0.0
    settled = (late < 10 * guess or not guess) and not _still_growing(curve)
    if late < 0.3 * _peak(curve):
        return  # it has come down again
    if late < growth * reference or settled or (curve.task == "cross_entropy" and late < 10 * guess):
        return
    yield Finding(
        what=f"the loss grew from {reference:.3g} to {late:.3g} in {curve.steps:,} steps",
        why="the model gets worse with every step",
        remedy="lower the learning rate tenfold; if it grows from epoch to epoch, look for data modified in place "
        "(-=, /=, *_() ) as it is loaded",
        where=curve.where,
        evidence=(Evidence(name="growth", value=float(f"{late / reference:.3g}"), limit=f"< {growth:g}"),),
        confidence=0.9,
    )


def _exploded(run: Run, step: int, first: float, last: float) -> Finding:
    return Finding(
        what=f"the model's outputs grew from {first:.3g} to {last:.3g} by step {step:,}, then the loss overflowed",
        why="training diverged: each step made the next gradient larger",
        remedy="clip gradients (nn.utils.clip_grad_norm_(model.parameters(), 1.0) after backward) and lower the "
        "learning rate tenfold",
        where=replace(run.facts(Backward)[0].where, step=step),
        evidence=(Evidence(name="growth", value=float(f"{last / first:.3g}"), limit="< 1000"),),
        confidence=0.92,
    )


def _peak(curve: Curve) -> float:
    size = max(3, len(curve.values) // 20)
    return max(median(curve.values[i : i + size]) for i in range(0, max(1, len(curve.values) - size + 1), size))


def _still_growing(curve: Curve) -> bool:
    """Whether each of the last three fifths is clearly above the one before."""
    size = max(3, len(curve.values) // 5)
    last, before, earlier = (median(curve.values[-n * size :][:size]) for n in (1, 2, 3))
    return curve.broke or (last > 3 * before and before > 1.5 * earlier)
