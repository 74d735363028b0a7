"""PM705."""

from collections.abc import Iterator

from paramedic.findings import Where
from paramedic.record.facts import Compile, Recompile
from paramedic.rules import Evidence, Finding, Run, rule


@rule("PM705", "recompilation", severity="warning", needs=[Compile])
def check(run: Run, *, versions: int = 6) -> Iterator[Finding]:
    """torch.compile recompiles the same function again and again.

    ## Why it hurts
    Compiling takes longer than many steps. After a few versions (8 by default) torch gives up and runs the function
    uncompiled for the rest of the run, with only a line on stderr.

    ## What to try first
    The failed guard names what changed. Varying sizes: `torch.compile(model, dynamic=True)`, or pad batches to a few
    fixed lengths; a short last batch: `drop_last=True`. A Python number that varies, such as a learning rate: pass it
    as a tensor.

    ## When this is wrong
    One version for full batches, one for the short last batch and one for evaluation are normal and not reported.

    ## Options
    `versions`: this many versions of one function are too many, if they were compiled in different steps.
    """
    functions: dict[str, list[Recompile]] = {}
    for event in run.facts(Recompile):
        functions.setdefault(event.frame, []).append(event)
    for events in functions.values():
        gave_up = next((event for event in events if event.gave_up), None)
        again = [event for event in events if not event.gave_up]
        steps = {event.step for event in again}
        if gave_up is None and (len(again) + 1 < versions or len(steps) < versions - 1):
            continue
        last = (again or events)[-1]
        seconds = sum(event.seconds or 0.0 for event in again)
        ending = " and then abandoned" if gave_up is not None else ""
        yield Finding(
            what=f"{last.function or 'a function'} was compiled {len(again) + 1} times{ending}; the guard that "
            f"failed last: {last.reason}",
            why=_why(gave_up is not None, seconds),
            remedy=_remedy(str(last.reason)),
            where=_place(run, last),
            evidence=(
                Evidence(name="versions_compiled", value=len(again) + 1, limit=f"< {versions}"),
                Evidence(name="seconds_compiling_again", value=round(seconds, 3)),
                Evidence(name="last_failed_guard", value=last.reason),
            ),
            confidence=0.95,
        )


def _why(gave_up: bool, seconds: float) -> str:
    spent = f"recompiling took {seconds:.2g} s"
    return f"{spent}, and from then on the function runs uncompiled" if gave_up else f"{spent}and continues"


def _remedy(reason: str) -> str:
    if "size mismatch" in reason or "stride mismatch" in reason or ".size()" in reason:
        return "torch.compile(..., dynamic=True), or pad batches to a few fixed sizes (drop_last=True for the last one)"
    if "obj_id" in reason or "___check_type_id" in reason:
        return "the guard compares an object that is new each time: create it once, outside the compiled function"
    if "==" in reason:
        return "the guard compares a Python value that changes: pass it as a tensor, or keep it out of the function"
    return 'TORCH_LOGS="recompiles" shows every guard that failed; keep what it names constant between calls'


def _place(run: Run, event: Recompile) -> Where:
    """The torch.compile call that created the function, if known; otherwise the function."""
    calls = run.facts(Compile)
    for call in calls:
        if call.code is not None and call.code[:2] == (event.code_file, event.code_line):
            return call.where
    return calls[0].where if len(calls) == 1 or not event.where.file else event.where
