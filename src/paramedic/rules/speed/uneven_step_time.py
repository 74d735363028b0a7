"""PM709."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from statistics import median

from paramedic.findings import Where
from paramedic.record.facts import SlowStep, Time
from paramedic.record.site import Site
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.timing import times

PARTS = {
    "data": "waiting for data",
    "to_device": "copying to the device",
    "forward": "before backward()",
    "backward": "in backward()",
    "optimizer": "in the optimizer's step",
    "other": "outside of forward, backward and step",
}


@rule("PM709", "uneven-step-time", severity="note", needs=[Time])
def check(run: Run, *, share: float = 0.15, regular: float = 0.7) -> Iterator[Finding]:
    """At regular intervals a step takes much longer than the others.

    ## Why it hurts
    Something is done too often, or in the wrong place: logging that computes too much, a checkpoint of everything,
    reopening a data shard. The line below was seen running in the slow steps.

    ## What to try first
    Do it less often, or make it cheaper; move it out of the training loop.

    ## When this is wrong
    Evaluations, the start of an epoch and batches of different lengths are not counted, only slow steps at regular
    intervals. If the time is well spent, there is nothing to do.

    ## Options
    `share`: smallest share of the training time that the slow steps must cost; `regular`: smallest share of them that
    must come at the same interval.
    """
    slow = [event for event in run.facts(SlowStep) if not event.marks]
    total = times(run)
    if len(slow) < 4 or total.training <= 0:
        return
    period, agreeing = _period([event.step for event in slow])
    extra = sum(event.seconds - event.typical for event in slow)
    if period < 2 or agreeing < regular or extra < share * total.training:
        return
    part = _guilty_part(slow)
    where = _seen(slow)
    typical, long = median(e.typical for e in slow), median(e.seconds for e in slow)
    yield Finding(
        what=f"every {period} steps one takes {1000 * long:.0f} ms instead of {1000 * typical:.1f} ms, {PARTS[part]}: "
        f"{extra / total.training:.0%} of the training time",
        why="something that runs at this interval takes as long as many steps",
        remedy=(f"look at {where.file}:{where.line}: do it less often, or make it cheaper" if where else "")
        or "look for what the loop does at this interval, and do it less often",
        where=replace(where, step=slow[0].step) if where else Where(step=slow[0].step),
        evidence=(
            Evidence(name="steps_from_one_slow_step_to_the_next", value=period),
            Evidence(name="share_of_training_time", value=round(extra / total.training, 3), limit=f"< {share}"),
            Evidence(name="slow_steps", value=len(slow)),
        ),
        confidence=0.8,
    )


def _period(steps: list[int]) -> tuple[int, float]:
    """The most common distance between slow steps, and the share of distances that are a multiple of it."""
    gaps = [after - before for before, after in pairwise(steps)]
    period = Counter(gaps).most_common(1)[0][0]
    # One that came out of step splits a distance in two; both halves count against it.
    return period, sum(gap % period == 0 for gap in gaps) / len(gaps) if period else 0.0


def _guilty_part(slow: list[SlowStep]) -> str:
    parts: Counter[str] = Counter()
    for event in slow:
        parts.update({part: seconds for part, seconds in event.parts.items() if part in PARTS})
    return parts.most_common(1)[0][0] if parts else "other"


def _seen(slow: list[SlowStep]) -> Where | None:
    """The line that was seen in most of the slow steps."""
    lines: Counter[Site] = Counter()
    for event in slow:
        lines.update({site for site in event.seen if site.file})
    if not lines:
        return None
    (file, line, function), count = lines.most_common(1)[0]
    return Where(file=file, line=line, function=function) if count >= 2 else None
