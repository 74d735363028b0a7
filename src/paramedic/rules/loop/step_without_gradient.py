"""PM610."""

from collections.abc import Iterator

from paramedic.record.facts import Backward, Census, Forward, LossCall, ModuleCall, Optimizer, Step
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import GRADIENT


@rule("PM610", "step-without-gradient", severity="error", needs=[Step], causes=["PM405"])
def check(run: Run, *, share: float = 0.1) -> Iterator[Finding]:
    """An optimizer steps without a new gradient.

    ## Why it hurts
    A step without a gradient changes nothing. A step on the gradient of the last step moves the weights again in an old
    direction, and applies momentum and weight decay twice.

    ## What to try first
    One `backward()`, then one `step()`. Move a `step()` that is outside the batch loop, or inside an inner loop, to
    where the gradient is computed. A closure, as LBFGS needs it, runs the model, the loss and `backward()` itself.

    ## When this is wrong
    Manually assigned gradients (`p.grad = ...`) and closures are recognised and not reported. Nor is a single first
    step before any gradient exists, or an optimizer whose modules are never called: it is stepped to see what a
    scheduler does.

    ## Options
    `share`: smallest share of steps without a new gradient.
    """
    steps = run.facts(Step)
    yield from _never_backward(run, steps)
    for event in steps:
        same = [other for other in steps if other.optimizer == event.optimizer]
        total = sum(other.count for other in same)
        if event.gradients in ("new", "untouched") or event.count < 2 or event.count < share * total:
            continue
        if event.closure:
            yield _idle_closure(event, total)
            continue
        none = event.gradients == "none"
        if none and _never_computed(run, event.optimizer):
            continue
        yield Finding(
            what=f"optimizer.step() had {'no gradient at all' if none else 'no new gradient'} "
            f"in {event.count:,} of {total:,} steps",
            why="every .grad was None, so no weight could move"
            if none
            else "there was no backward() since the last step: the same gradient was used again",
            remedy="call loss.backward() before each step, with nothing that clears gradients in between",
            where=event.where,
            evidence=(Evidence(name="steps_without_gradient", value=event.count, limit="0"),),
            confidence=0.95 if none else 0.93,
        )


def _idle_closure(event: Step, total: int) -> Finding:
    return Finding(
        what=f"the closure of optimizer.step() computed no gradient in {event.count:,} of {total:,} steps, "
        "although it was asked several times in each",
        why="the optimizer moves the weights and asks for loss and gradient there; it got those of the old weights, "
        "so every further move of the step is blind",
        remedy="step(closure) with a closure that runs zero_grad(), the model, the loss and backward(), "
        "and returns the loss",
        where=event.where,
        evidence=(Evidence(name="steps_without_gradient", value=event.count, limit="0"),),
        confidence=0.95,
    )


def _never_backward(run: Run, steps: list[Step]) -> Iterator[Finding]:
    """Closures are called but produce no gradient: a training_step that returns nothing."""
    total = sum(step.count for step in steps)
    touched = any(flags & GRADIENT for census in run.facts(Census) for flags in census.flags)
    computed = any(event.grad and event.training for event in run.facts(Forward))
    closures = all(step.closure for step in steps)
    if run.facts(Backward) or touched or not (computed and closures) or total < 5 or not run.facts(Census):
        return
    call = next(event for event in run.facts(Forward) if event.grad and event.training)
    yield Finding(
        what=f"no backward() in {total:,} optimizer steps: every .grad stayed None, and no weight moved",
        why="the model is called in training, but its loss never reaches backward()",
        remedy="return the loss from training_step, or from the closure",
        where=call.where,
        evidence=(Evidence(name="backward_passes", value=0, limit=f"{total}"),),
        confidence=0.95,
    )


def _never_computed(run: Run, number: int) -> bool:
    """Nothing was ever computed with this optimizer's parameters."""
    held = next((event for event in run.facts(Optimizer) if event.number == number), None)
    if held is None or held.in_models < held.held:
        # Its modules may be gone: a stand-in that was built to look at a schedule, beside an optimizer that trains.
        if any(event.gradients == "new" for event in run.facts(Step) if event.optimizer != number):
            return True
        return not any(run.facts(kind) for kind in (Forward, LossCall, Backward))
    owners = {name.rpartition(".")[0] for group in held.groups for name in group.parameters}
    called = {call.module for kind in (Forward, ModuleCall) for call in run.facts(kind) if call.module}
    return not any(f".{path}." in f".{owner}." for owner in owners for path in called)
