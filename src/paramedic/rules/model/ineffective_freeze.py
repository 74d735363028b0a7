"""PM404."""

import ast
from collections.abc import Iterator

from paramedic.record.facts import Census, Freeze, Model
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import GRADIENT, MOVED, NONZERO, TRAINABLE, listed, many, parameter_histories
from paramedic.static.idle import idle_switches
from paramedic.static.program import program


@rule("PM404", "ineffective-freeze", severity="error", coverage=[Model], causes=["PM420"])
def check(run: Run) -> Iterator[Finding]:
    """Code that is meant to freeze parameters, or to train them again, has no effect.

    `module.requires_grad = False` sets an attribute that nothing reads; `state_dict()` returns detached tensors; a
    misspelt attribute on a parameter is accepted silently; `p.requires_grad == True` compares and sets nothing; an
    optimizer updates anything that has a `.grad`, even zero.

    ## Why it hurts
    Weights that should stay fixed, often pretrained ones, are trained and lose what they knew; or the second phase of a
    fine-tuning trains no more than the first.

    ## What to try first
    `module.requires_grad_(False)`, with the underscore, or `for p in module.parameters(): p.requires_grad = False`.

    ## When this is wrong
    Nothing is reported if the parameters are kept out of the optimizer instead.
    """
    moving = {h.name for h in parameter_histories(run) if h.moved}
    for event in run.facts(Freeze):
        if event.target == "module":
            inside = [name for name in moving if name.startswith(f"{event.module}.")]
            if event.value or not inside:  # True for what is frozen: _in_vain
                continue
            yield Finding(
                what=f"{event.module}.requires_grad = False had no effect: {many(len(inside), 'tensor')} still change",
                why="nn.Module has no such setting; the line only creates an attribute of that name",
                remedy=f"{event.module}.requires_grad_(False)",
                where=event.where,
                evidence=(Evidence(name="moving_tensors", value=len(inside), limit="0"),),
                confidence=0.98,
            )
        elif event.target == "copy" and not event.value:
            inside = [name for name in event.names if name in moving]
            if inside:
                yield Finding(
                    what=f"requires_grad = False was set on copies from state_dict(): {listed(inside)} still change",
                    why="state_dict() returns detached tensors; the parameters themselves stay trainable",
                    remedy="loop over model.named_parameters() instead of model.state_dict().items()",
                    where=event.where,
                    evidence=(Evidence(name="moving_tensors", value=len(inside), limit="0"),),
                    confidence=0.97,
                )
        elif event.target == "parameter" and not event.value and event.now == event.tensors:
            inside = [name for name in event.names if name in moving]
            if inside and len(inside) == len(event.names) and _once(run, event):
                yield Finding(
                    what=f"{many(event.tensors, 'tensor')} frozen here were made trainable again before the next step: "
                    f"{listed(inside)}",
                    why="a later line sets requires_grad back to True for all of them",
                    remedy="freeze after the last line that changes requires_grad",
                    where=event.where,
                    severity="warning",
                    evidence=(Evidence(name="trainable_again", value=event.tensors, limit="0"),),
                    confidence=0.8,
                )
    yield from _still_frozen(run)
    yield from _in_vain(run)
    yield from _idle(run, moving)
    yield from _misspelt(run, moving)
    yield from _frozen_but_moving(run)


def _once(run: Run, event: Freeze) -> bool:
    """A GAN freezes and unfreezes in every step on purpose."""
    place = (event.where.file, event.where.line)
    same = [e for e in run.facts(Freeze) if (e.where.file, e.where.line) == place]
    return len(same) == 1 and event.count == 1 and run.steps > event.step + 1


def _still_frozen(run: Run) -> Iterator[Finding]:
    """The function that had frozen them was called again with the switch on, and changed nothing."""
    for event in run.facts(Freeze):
        later = [census for census in run.facts(Census) if census.step > event.step]
        if event.target != "nothing" or not later:
            continue
        still = [name for name in event.names if all(_frozen(census, name) for census in later)]
        if still:
            yield Finding(
                what=f"{many(len(still), 'tensor')} should be trainable again from step {event.step:,} on but are "
                f"still frozen: {listed(still)}",
                why="this line froze them before; called again to unfreeze them, it skips frozen parameters",
                remedy="set requires_grad on all parameters, without a filter on p.requires_grad",
                where=event.where,
                evidence=(Evidence(name="still_frozen", value=len(still), limit="0"),),
                confidence=0.93,
            )


def _in_vain(run: Run) -> Iterator[Finding]:
    """requires_grad = True reached a module or a copy, and the intended parameters stay frozen to the end."""
    frozen = _frozen_at_the_end(run)
    for event in run.facts(Freeze):
        inside = f"{event.module}."
        if event.target == "module":
            still = [name for name in frozen if name.startswith(inside)]
        else:
            still = [name for name in event.names if name in frozen] if event.target == "copy" else []
        if event.value and still:
            module = event.target == "module"
            yield Finding(
                what=f"requires_grad = True had no effect: {many(len(still), 'tensor')} stay frozen: {listed(still)}",
                why="nn.Module has no such setting; the line only creates an attribute of that name"
                if module
                else "state_dict() and .data return other tensors; the parameters themselves stay frozen",
                remedy=f"{event.module}.requires_grad_(True)" if module else "set it on model.parameters()",
                where=event.where,
                evidence=(Evidence(name="still_frozen", value=len(still), limit="0"),),
                confidence=0.95,
            )


def _idle(run: Run, moving: set[str]) -> Iterator[Finding]:
    """A statement that seems to set requires_grad, and the parameters it left unchanged."""
    for link, value in idle_switches(program(run), "requires_grad"):
        names = sorted(_frozen_at_the_end(run) if value else moving)
        if names:
            compared = isinstance(link.node, ast.Compare)
            yield Finding(
                what=f"this line does not set requires_grad: {many(len(names), 'tensor')} "
                f"{'stay frozen' if value else 'still change'}: {listed(names)}",
                why="== compares, and the result is discarded"
                if compared
                else "nothing consumes this generator, so it never runs",
                remedy=f"p.requires_grad = {value}, in a loop over the parameters",
                where=link.where,
                evidence=(Evidence(name="unchanged_tensors", value=len(names), limit="0"),),
                confidence=0.95,
            )


def _frozen_at_the_end(run: Run) -> set[str]:
    """Parameters that were frozen, or that an optimizer holds, and that need no gradient to the end."""
    frozen: set[str] = set()
    for event in run.facts(Freeze):
        if event.target == "parameter":
            frozen = frozen - set(event.names) if event.now else frozen | set(event.names)
    for census in run.facts(Census):
        for name, flags in zip(census.names, census.flags, strict=True):
            frozen.discard(name) if flags & TRAINABLE else frozen.add(name)
    return frozen


def _frozen(census: Census, name: str) -> bool:
    return name in census.names and not census.flags[census.names.index(name)] & TRAINABLE


def _misspelt(run: Run, moving: set[str]) -> Iterator[Finding]:
    for event in run.facts(Freeze):
        odd = [name for name in event.names if name in moving] if event.target == "misspelt" else []
        if odd:
            yield Finding(
                what=f"{listed(odd)} was given an attribute {event.attribute!r} that torch does not know",
                why="assigning an unknown attribute to a tensor raises no error and has no effect",
                remedy="p.requires_grad = False or p.requires_grad_(False)",
                where=event.where,
                evidence=(Evidence(name="tensors", value=event.tensors, limit="0"),),
                confidence=0.97,
            )


def _frozen_but_moving(run: Run) -> Iterator[Finding]:
    """requires_grad was turned off after gradients existed: the optimizer keeps using the old gradient."""
    frozen = [h for h in parameter_histories(run) if h.trainable < h.examined]
    for census in reversed(run.facts(Census)):
        names = [
            name
            for name, flags, rate in zip(census.names, census.flags, census.rates, strict=True)
            if not flags & TRAINABLE and flags & GRADIENT and flags & MOVED and rate > 0
        ]
        names = [name for name in names if any(h.name == name for h in frozen)]
        if not names:
            return
        switch = [e for e in run.facts(Freeze) if not e.value and set(names) & set(e.names)]
        used = [census.flags[census.names.index(name)] & NONZERO for name in names]
        yield Finding(
            what=f"{many(len(names), 'tensor')} with requires_grad=False still change: {listed(names)}",
            why="they were frozen while an old gradient was in .grad, and the optimizer keeps using it"
            if any(used)
            else "their .grad is zero, not None: the optimizer still applies momentum and weight decay",
            remedy="set p.grad = None when freezing, or remove them from the optimizer",
            where=switch[-1].where if switch else census.where,
            evidence=(Evidence(name="frozen_but_moving", value=len(names), limit="0"),),
            confidence=0.93,
        )
        return
