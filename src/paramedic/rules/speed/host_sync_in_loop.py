"""PM706."""

from collections.abc import Iterator

from paramedic.record.facts import LineSample, Step, Sync
from paramedic.rules import Evidence, Examined, Finding, Run, rule
from paramedic.rules.support import listed


@rule("PM706", "host-sync-in-loop", severity="note", needs=[Sync], coverage=[Step, Examined(5)])
def check(run: Run, *, share: float = 0.8) -> Iterator[Finding]:
    """Every step waits for the accelerator to finish.

    ## Why it hurts
    The host queues work and runs ahead, so the accelerator always has something to do. `.item()`, `.cpu()`, printing a
    loss or `if loss > x` need a value immediately: the host waits until all work is done, and then the accelerator
    waits for the host.

    ## What to try first
    Accumulate losses on the device (`total += loss.detach()`) and read them every 50 steps.

    ## When this is wrong
    With steps of many milliseconds the wait costs almost nothing, so this is a note. A program that depends on the
    value, such as stopping at a NaN, needs it.

    ## Options
    `share`: smallest share of the examined steps in which the call was made.
    """
    examined = int(run.meta["coverage"]["examined"])
    calls = [event for event in run.facts(Sync, phase="train") if event.count >= share * examined]
    if not calls:
        return
    first = max(calls, key=lambda event: event.count)
    looks = run.facts(LineSample)
    waiting = sum(e.count for e in looks if any(e.line == call.line for call in calls))
    total = sum(event.count for event in looks)
    places = listed([f"{call.call} at {call.line}" for call in calls])
    seen = f"; {waiting / total:.0%} of {total} stack samples were there" if total >= 20 else ""
    yield Finding(
        what=f"every step waits for the accelerator: {places}{seen}",
        why="the host cannot run ahead, so the accelerator idles while the next step is prepared",
        remedy="keep the value on the device (total += loss.detach()) and read it every 50 steps",
        where=first.where,
        evidence=(
            Evidence(name="waiting_calls_per_examined_step", value=round(sum(c.count for c in calls) / examined, 2)),
            Evidence(name="share_of_looks_at_these_lines", value=round(waiting / total, 3) if total else None),
        ),
        confidence=0.8,
    )
