"""PM708."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

from paramedic.findings import Where
from paramedic.record.facts import Stall, Step
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import many

TOGETHER = "if several processes train together, check where the others are: one may have skipped a collective call"
PARTS = {  # of the loop: what the training thread does there, and what to try
    "data": ("waiting for its next batch", "run once with num_workers=0: what hangs then shows in this process"),
    "backward": ("inside backward()", TOGETHER),
    "optimizer": ("inside the optimizer's step", TOGETHER),
}


@rule("PM708", "stalled-step", severity="error", coverage=[Step])
def check(run: Run) -> Iterator[Finding]:
    """Training hung and never continued.

    ## Why it hurts
    A hanging job blocks its machine silently: a lock that is never released, a worker that waits for another, a
    collective call that one process skipped.

    ## What to try first
    Look at where each thread was: the stacks of all threads, and of all child processes that could be read, are in the
    file `stall-….txt` in the run's folder. They were taken during the hang.

    ## When this is wrong
    Anything that moves counts as progress: a probe call, another line in any function of the training thread. It is an
    error only if training waited inside one single call in the training loop until the process was killed, interrupted
    or failed. Processes started by the script may wait for work as long as they like. A wait for data, backward or step
    that ended by itself is a note; a long evaluation or checkpoint is not reported.
    """
    stalls = run.facts(Stall)
    for event, following in zip_longest(stalls, stalls[1:]):
        if event.over or not event.in_loop:
            continue
        over = following if following is not None and following.over else None
        if over is not None and event.part in PARTS:
            yield _finding(event, over)
        elif over is None and not _ended_well(run) and (event.part in PARTS or not _is_helper(run)):
            yield _finding(event, None)


def _ended_well(run: Run) -> bool:
    """Only the script's own process knows its exit code; of others, only whether they finished."""
    return run.meta["exit_code"] == 0 if "exit_code" in run.meta else _is_helper(run) and "seconds" in run.meta


def _is_helper(run: Run) -> bool:
    """A process that the script started: waiting for work until it is terminated may be its purpose."""
    return run.path.stem.startswith("p")


def _finding(event: Stall, over: Stall | None) -> Finding:
    seconds = over.seconds if over is not None else event.seconds
    usual = f", although a step takes {event.typical:.2g} s" if event.typical else ""
    doing, advice = PARTS.get(event.part or "", ("waiting inside one call", "find out what this call waits for"))
    children = [place for child in event.children if (place := _own_line(child.stack)) is not None]
    workers = many(len(children), "child process").replace("processs", "processes")
    standing = f"; {workers} of it at {children[0].file}:{children[0].line}" if children else ""
    return Finding(
        what=f"nothing moved for {seconds:.0f} s{usual}, "
        f"{'then it continued' if over else 'and it never continued'}: the "
        f"training thread was {doing} at {event.line}{standing}",
        why="the call waits for something that does not happen: a lock, a worker, another process",
        remedy=f"{advice}; all stacks are in {event.file}",
        where=replace(children[0], step=event.step) if children and event.part == "data" else event.where,
        severity="note" if over is not None else "error",
        evidence=(
            Evidence(name="seconds_without_progress", value=round(seconds, 1)),
            Evidence(name="seconds_of_a_usual_step", value=event.typical),
            Evidence(name="part_of_the_loop", value=event.part),
        ),
        confidence=0.9,
    )


def _own_line(stack: Sequence[str]) -> Where | None:
    """Where the script's own code is in a stack: its innermost line outside installed packages."""
    own = [line for line in stack if "site-packages" not in line and "/lib/python" not in line]
    if not own:
        return None
    place, _, function = own[-1].partition(" in ")
    file, _, line = place.rpartition(":")
    return Where(file=file, line=int(line), function=function)
