"""PM506."""

from collections import defaultdict
from collections.abc import Iterator

from paramedic.record.facts import Backward, ConstantTerm, Pushed, Quotient
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import at, listed


@rule("PM506", "constant-loss-term", severity="error", needs=[Backward])
def check(run: Run) -> Iterator[Finding]:
    """A loss, or one term of it, does not depend on any trainable parameter.

    ## Why it hurts
    A term cut off from the graph is a constant: it shows up in the printed loss and changes nothing. A whole loss
    without a path to the parameters trains nothing at all.

    ## What to try first
    Remove the call that cuts the graph: `.detach()`, `.item()`, `.data`, `torch.no_grad()`, a comparison or `argmax`;
    replace a hard decision with a smooth one (probabilities instead of predicted classes).

    ## When this is wrong
    A term added only for display is better added to a copy of the loss. Terms that never had a gradient, such as those
    of a frozen teacher, are not reported; nor is a value that is replaced on purpose, as in `surrogate + (objective -
    surrogate).detach()`, nor a term with a weight of zero, as in a warm-up.
    """
    for op in run.facts(ConstantTerm):
        if op.value != 0:
            where = at(op, (op.cut_file, op.cut_line))
            yield Finding(
                what=f"a term of the loss (value {op.value:.4g}) has no gradient: {op.cut} cut it off",
                why=f"the term added at {op.line} is a constant, so training cannot reduce it",
                remedy="pass create_graph=True to torch.autograd.grad"
                if op.cut.startswith("torch.autograd.grad")
                else f"compute it without {op.cut}, from values that are still in the graph",
                where=where,
                evidence=(Evidence(name="value", value=op.value), Evidence(name="steps", value=op.count)),
                confidence=0.93,
            )
    yield from _cancelled(run)
    passes = run.facts(Backward)
    nowhere = [event for event in passes if event.parameters == 0]
    told: set[tuple[str | None, int | None]] = set()
    for event in nowhere:
        here = (event.where.file, event.where.line)
        reached = any(e.parameters for e in passes if (e.where.file, e.where.line) == here)
        if event.leaves and not event.leaf:
            continue  # gradients of inputs, as in adversarial attacks
        if reached or here in told or (event.count < 2 and run.steps > 2):
            continue
        told.add(here)
        yield Finding(
            what=f"backward() reached none of the model's parameters in {event.count:,} of {event.count:,} calls",
            why="the loss is a new tensor without a graph"
            if event.leaf
            else "this loss depends on no trainable parameter",
            remedy="build the loss from the model's outputs: no .item(), .detach() or torch.tensor(...) on the way",
            where=event.where,
            evidence=(Evidence(name="parameters_reached", value=0, limit="≥ 1"),),
            confidence=0.94,
        )


def _cancelled(run: Run, *, fewest: int = 5, rounding: float = 1e-6) -> Iterator[Finding]:
    """A loss term whose influence on the total is rounding noise: it is divided by itself, or cancels out.

    A weight gives the same slope in every step, and a weight of zero gives exactly zero; noise gives neither.
    """
    places: dict[tuple[str | None, int | None, str], list[Pushed]] = defaultdict(list)
    for event in run.facts(Pushed):
        places[(event.where.file, event.where.line, event.function)].append(event)
    moves = any(abs(event.slope) > rounding for event in run.facts(Pushed))
    quotient = _constant_quotient(run, fewest)
    idle = [events for events in places.values() if len(events) >= fewest and _is_idle(events, quotient, rounding)]
    if not moves or not idle:
        return
    terms = listed(f"{events[0].function} at {events[0].line} ({events[0].value:.3g})" for events in idle)
    yield Finding(
        what=f"{terms} {'does' if len(idle) == 1 else 'do'} not move the loss: the gradient cancels out",
        why="the term is divided by itself, so it is constant whatever the model does"
        if quotient
        else "the total depends on it only through rounding errors, so training cannot reduce it",
        remedy="divide by its detached value: loss / loss.detach()"
        if quotient
        else "look for a division by itself, or a difference in which it cancels; detach one of them",
        where=quotient.where if quotient else idle[0][0].where,
        evidence=(
            Evidence(name="slope", value=max((e.slope for e in idle[0]), key=abs), limit="the weight of the term"),
            Evidence(name="steps", value=len(idle[0])),
        ),
        confidence=0.93,
    )


def _constant_quotient(run: Run, fewest: int) -> Quotient | None:
    """A division of a value by itself whose result was the same in every step."""
    found: dict[tuple[str | None, int | None], list[Quotient]] = defaultdict(list)
    for op in run.facts(Quotient):
        found[(op.where.file, op.where.line)].append(op)
    return next((ops[0] for ops in found.values() if len(ops) == 1 and ops[0].count >= fewest), None)


def _is_idle(events: list[Pushed], quotient: Quotient | None, rounding: float) -> bool:
    slopes = [event.slope for event in events]
    if any(abs(slope) > rounding for slope in slopes) or any(event.value == 0 for event in events):
        return False
    return len(set(slopes)) > 1 or quotient is not None
