"""PM602."""

from collections.abc import Iterator

from paramedic.record.facts import Backward, Census, Discard, Unstepped
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.lines import edited_at
from paramedic.rules.support import GRADIENT
from paramedic.static.idle import step_at
from paramedic.static.program import program


@rule("PM602", "gradients-discarded", severity="error", needs=[Backward], causes=["PM610", "PM403", "PM405"])
def check(run: Run, *, share: float = 0.03) -> Iterator[Finding]:
    """Gradients are computed but cleared before any step uses them, or no step is ever taken.

    ## Why it hurts
    The work is wasted. With `zero_grad()` between `backward()` and `step()` nothing is learnt; with accumulation and a
    `zero_grad()` at the start of each epoch, the last batches of every epoch are never used.

    ## What to try first
    Call `zero_grad()` right after `step()`, or right before the first `backward()` of the next step. Step once more at
    the end of an epoch if batches are left over.

    ## When this is wrong
    Backward passes that serve another purpose (gradients of the input, or of another optimizer's parameters) are not
    reported. Nor are those whose norm was first measured by clipping: a batch with a huge gradient is dropped on
    purpose.

    ## Options
    `share`: smallest share of backward passes that must be lost.
    """
    yield from _never_used(run)
    passes: dict[tuple[str | None, int | None], int] = {}
    for event in run.facts(Backward):
        place = (event.where.file, event.where.line)
        passes[place] = passes.get(place, 0) + event.count
    for discard in run.facts(Discard):
        total = passes.get((discard.backward_file, discard.backward_line), 0)
        if discard.count < 2 or not total or discard.count < share * total:
            continue
        all_lost = discard.count >= 0.9 * total
        if (discard.measured and not all_lost) or discard.optimizer in _beside_starved(run):
            continue
        yield Finding(
            what=f"{discard.count:,} of {total:,} backward passes were cleared here before any step used them",
            why="no update ever sees these gradients"
            if all_lost
            else "nothing is learnt from those batches, often the last ones of each epoch",
            remedy="move zero_grad() after step()"
            if all_lost
            else "step on the last, incomplete accumulation of an epoch, or do not clear gradients at its start",
            where=discard.where,
            severity="error" if all_lost else "warning",
            evidence=(
                Evidence(name="lost_backward_passes", value=discard.count, limit="0"),
                Evidence(name="backward_passes", value=total),
            ),
            confidence=0.98 if all_lost else 0.92,
        )


def _never_used(run: Run, fewest: int = 10) -> Iterator[Finding]:
    """Backward passes reach an optimizer's parameters, but in the whole run it takes no step."""
    passes = sum(event.count for event in run.facts(Backward))
    for event in run.facts(Unstepped):
        if passes < fewest:
            continue
        link, shared = step_at(program(run))
        yield Finding(
            what=f"{passes:,} backward passes, but {event.class_} has not taken a single step: its {event.held} "
            "parameters "
            "have not changed",
            why="accelerate skips step() except when it synchronises, and your own condition never coincides with that "
            "pass"
            if shared
            else "step() was never executed",
            remedy="call optimizer.step() and zero_grad() in every iteration: accumulate() decides which of them count"
            if shared
            else "call optimizer.step() after backward()",
            **edited_at(event.where, link),
            evidence=(
                Evidence(name="steps", value=0, limit="> 0"),
                Evidence(name="backward_passes", value=passes),
            ),
            confidence=0.95,
        )


def _beside_starved(run: Run) -> set[int]:
    """The optimizers other than one that never gets a gradient: its passes, cut off, write to theirs only (PM403)."""
    flags: dict[int, list[int]] = {}
    for census in run.facts(Census):
        flags.setdefault(census.optimizer, []).extend(census.flags)
    fed = {number for number, found in flags.items() if any(flag & GRADIENT for flag in found)}
    return fed if len(fed) < len(flags) else set()
