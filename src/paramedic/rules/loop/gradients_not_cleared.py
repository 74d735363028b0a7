"""PM601."""

from collections import defaultdict
from collections.abc import Iterator
from statistics import median

from paramedic.record.facts import Backward, Mixture, StaleBackward, Step
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.lines import edited_at
from paramedic.rules.support import listed
from paramedic.static.clearing import cleared_outside
from paramedic.static.program import program


@rule("PM601", "gradients-not-cleared", severity="error", coverage=[Backward, Step], causes=["PM202", "PM208", "PM101"])
def check(run: Run, *, share: float = 0.5, in_a_row: int = 5, against: float = -0.3) -> Iterator[Finding]:
    """backward() adds to gradients that a step has already used.

    PyTorch adds new gradients to `.grad`. Without `zero_grad()` between two steps each update uses the sum over all
    batches so far. With two optimizers it can also happen like this: the first loss writes gradients for the second
    optimizer, and these are still there when its own loss adds to them.

    ## Why it hurts
    The direction is a mixture of all past batches, and the gradient grows with every step. Easy problems are still
    learnt, which hides the bug; hard ones oscillate or diverge.

    ## What to try first
    Call `optimizer.zero_grad()` before `backward()`, for every optimizer.

    ## When this is wrong
    Gradient accumulation is not reported: there, gradients are cleared after the step that used them. Nor are gradients
    that a shared part accumulates from several losses, unless they oppose each other as in a GAN.

    ## Options
    `share`: smallest share of steps in which it must happen; `in_a_row`: or in this many consecutive steps at the end
    of the run; `against`: the cosine between two losses' gradients below which they oppose each other.
    """
    yield from _mixed(run, against, in_a_row)
    taken: dict[int, int] = {}
    for event in run.facts(StaleBackward):
        taken[event.optimizer] = taken.get(event.optimizer, 0) + event.count
    for event in run.facts(StaleBackward):
        steps = taken[event.optimizer]
        often = event.count >= max(2, share * (steps - 1))
        if not event.stale or not (often or (event.count >= in_a_row and _never_clean_since(run, event))):
            continue
        several = len(taken) > 1
        own = _own_pass(run, event) if several else event
        outside = None if several else cleared_outside(program(run), own.where)
        shown = "" if own.line == event.line else f" at line {event.where.line}"
        whose = f" of optimizer {event.optimizer} ({listed(event.parameters)})" if several else ""
        yield Finding(
            what=(f"in {event.count:,} of {steps:,} steps" if often else f"since step {event.step:,}")
            + f" backward(){shown} added to gradients{whose} that the last step had already used",
            why="each update uses the sum of all gradients so far, not the gradient of its batch",
            remedy="call optimizer.zero_grad() before this line, once per step"
            if outside is None
            else f"move zero_grad() into the loop, before backward() in line {own.where.line}",
            **edited_at(own.where, outside),
            evidence=(
                Evidence(name="backward_into_old_gradients", value=event.count, limit="0"),
                Evidence(name="steps", value=steps),
            ),
            confidence=0.98,
        )


def _own_pass(run: Run, stale: StaleBackward) -> StaleBackward:
    """The pass that this optimizer's first step used, before anything could be stale: its gradients must be cleared.

    A loss of another optimizer may be the first to add to what is left of them.
    """
    same = [e for e in run.facts(StaleBackward) if e.optimizer == stale.optimizer]
    first = min(same, key=lambda e: e.step)
    nearby = (first.where.file, first.where.function) == (stale.where.file, stale.where.function)
    return first if nearby and first.count == 1 and not first.stale else stale


def _never_clean_since(run: Run, stale: StaleBackward) -> bool:
    clean = [e for e in run.facts(StaleBackward) if not e.stale and e.optimizer == stale.optimizer]
    return all(event.last_step <= stale.step for event in clean)


def _mixed(run: Run, against: float, fewest: int) -> Iterator[Finding]:
    """One optimizer steps on the sum of its own loss's gradients and its opponent's."""
    looks: dict[tuple[object, ...], list[Mixture]] = defaultdict(list)
    for event in run.facts(Mixture):
        looks[(event.optimizer, event.line, event.first[1])].append(event)
    for (number, _, line), events in looks.items():
        cosines = [event.cosine for event in events]
        opposed = sum(cosine < 0 for cosine in cosines) >= 0.9 * len(cosines)
        if len(events) < fewest or median(cosines) > against or not opposed:
            continue
        yield Finding(
            what=f"optimizer {number} steps on the gradients of this pass plus those of line {line}, which another "
            "optimizer "
            f"had already used; the two oppose each other (cosine {median(cosines):.2f})",
            why=f"the loss of line {line} also writes gradients here, and nothing clears them before this pass adds "
            "more",
            remedy="call zero_grad() of this optimizer right before this line, or detach() its outputs for the other "
            "loss",
            where=events[-1].where,
            evidence=(
                Evidence(name="cosine_of_the_two", value=round(median(cosines), 3), limit=f"> {against:g}"),
                Evidence(name="examined_steps", value=len(events)),
            ),
            confidence=0.9,
        )
