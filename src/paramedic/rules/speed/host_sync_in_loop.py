"""PM706."""

from collections.abc import Iterator

from paramedic.record.facts import LineSample, Step, Sync
from paramedic.rules import Evidence, Examined, Finding, Run, rule
from paramedic.rules.support import listed


@rule("PM706", "host-sync-in-loop", severity="note", needs=[Sync], coverage=[Step, Examined(5)])
def check(run: Run, *, share: float = 0.8) -> Iterator[Finding]:
    """Every step waits for the accelerator to finish.

    ## Why it hurts
    The host hands out work and runs ahead, so that the accelerator never lacks any. `.item()`, `.cpu()`, a loss that
    is printed or `if loss > x` need a value at once: the host waits until all work is done, and then the accelerator
    waits for the host.

    ## What to try first
    Add up losses on the device (`total += loss.detach()`) and read them every 50 steps.

    ## When this is wrong
    With steps of many milliseconds the wait costs next to nothing; therefore it is a note. A program that decides by
    the value, such as stopping at a NaN, needs it.

    ## Options
    `share`: least share of the examined steps in which the call was made.
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
    seen = f"; the script was found there in {waiting / total:.0%} of {total} looks" if total >= 20 else ""
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
