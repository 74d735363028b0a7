"""PM402."""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from paramedic.record.facts import (
    Census,
    EvalForward,
    Forward,
    Freeze,
    Hidden,
    LossCall,
    Model,
    Optimizer,
    Step,
    TrainForward,
)
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.lines import Places, argument_history, edited_at, layers
from paramedic.rules.support import MOVED, TRAINABLE, common_path, listed, many, parameter_histories, twin_optimizers
from paramedic.static.blocks import last_branch, loop_around
from paramedic.static.calls import switched_by
from paramedic.static.history import Link
from paramedic.static.program import program
from paramedic.static.rebuilding import rebuilt_at
from paramedic.static.signs import names_any

_ALL_OF_THEM = ("named_parameters", "parameters", "named_modules", "modules", "named_children", "children")


@rule("PM402", "parameter-without-optimizer", severity="error", needs=[Census, Optimizer])
def check(run: Run, *, fewest: int = 3) -> Iterator[Finding]:
    """Trainable parameters receive gradients but are not in any optimizer.

    ## Why it hurts
    They keep their initial values. Typical causes: the optimizer was given only part of the model, a loss module with
    its own parameters was forgotten, a head was added after the optimizer was built.

    ## What to try first
    Give them to the optimizer: `Adam([*model.parameters(), *criterion.parameters()])`, or freeze them with
    `requires_grad_(False)` if they should stay fixed.

    ## When this is wrong
    Parameters that another optimizer holds are not reported, nor those that the script updates itself (a hand-written
    update, master weights copied back), nor a whole network that only passes gradients on: in eval mode, as a fixed
    feature extractor (perceptual losses), or as a copy of a trained model (a target network). Such a network should
    still be frozen. If an optimizer has stopped stepping, its parameters are reported only if they were frozen for a
    while and then receive gradients again.

    ## Options
    `fewest`: examined steps in which they must have had a gradient.
    """
    thawed = list(_thawed(run, fewest))
    yield from thawed
    seen: Counter[str] = Counter()
    for census in run.facts(Census):
        seen.update([name for name, flags in census.outside.items() if flags & TRAINABLE])
    moved = {name for census in run.facts(Census) for name, flags in census.outside.items() if flags & MOVED}
    hidden = [event.module or "" for event in run.facts(Hidden)]
    held = {name for o in run.facts(Optimizer) for name in _held_by(o) if not _of_an_earlier_model(run, o, name)}
    names = [
        n for n, times in seen.items() if times >= fewest and n not in held | moved and not n.startswith("a tensor of")
    ]
    names = [name for name in names if not any(name.startswith(path) for path in hidden)]
    roots = {name.partition(".")[0] for name in names} if not thawed else set()
    for root in sorted(roots):
        own = [name for name in names if name.partition(".")[0] == root]
        model = next((m for m in run.facts(Model) if m.name == root), None)
        if model is None:
            continue
        everything = {p.name for p in model.parameters if p.requires_grad}
        untouched = not everything & held
        if untouched and (_only_passed_through(run, root) or _is_copy_of_trained(run, model, held)):
            raise Abstain(f"{root} is not trained by any optimizer: probably a fixed network")
        twins = twin_optimizers(run) if untouched else None
        optimizer = twins[1] if twins is not None else run.facts(Optimizer)[-1]
        part = common_path(own) or root
        yield Finding(
            what=f"{many(len(own), 'trainable tensor')} of {part} get gradients but are in no optimizer: {listed(own)}",
            why="nothing ever updates them; they keep their initial values"
            if twins is None
            else f"two optimizers hold the same tensors instead, built at {twins[0].line} and {twins[1].line}",
            remedy=f"add {part}.parameters() to the optimizer, or freeze them with {part}.requires_grad_(False)"
            if twins is None
            else f"give one of the two {part}.parameters()",
            **edited_at(
                replace(optimizer.where, module=part, step=0), None if twins else _left_out(run, optimizer, own)
            ),
            evidence=(
                Evidence(name="tensors_without_optimizer", value=len(own), limit="0"),
                Evidence(name="examined_steps", value=max(seen[name] for name in own)),
            ),
            severity="warning" if untouched and twins is None else "error",
            confidence=0.9 if untouched else 0.96,
        )


def _thawed(run: Run, fewest: int) -> Iterator[Finding]:
    """Parameters of an optimizer that has stepped for the last time: frozen since then, and thawed for nobody.

    They must have had no gradient in between. Whose gradients are merely not wanted gets them all the time.
    """
    for optimizer in run.facts(Optimizer):
        steps = [step.last_step for step in run.facts(Step) if step.optimizer == optimizer.number]
        later = [c for c in run.facts(Census) if steps and c.step > max(steps) and c.optimizer != optimizer.number]
        lent = [census for census in later if _lent(census, optimizer)]
        frozen = [census for census in later if not _lent(census, optimizer)]
        if len(lent) < fewest or len(frozen) < fewest or frozen[-1].step > lent[0].step:
            continue
        count, at_work = _lent(lent[-1], optimizer), lent[-1].optimizer
        working = next((o for o in run.facts(Optimizer) if o.number == at_work), optimizer)
        own = [name for group in optimizer.groups for name in group.parameters]
        part = common_path([name for name in own if name not in _held_by(working)]) or "the model"
        thaw = next((f for f in reversed(run.facts(Freeze)) if f.value and f.step <= lent[0].step + 1), None)
        known = str(optimizer.number) in (lent[-1].lent or {})
        if not known and (thaw is None or not {*thaw.names} & {*own} or thaw.step <= frozen[0].step):
            continue  # known by name only: somebody must have thawed them
        yield Finding(
            what=f"{many(count, 'tensor')} of {part} get gradients from step {lent[0].step:,} on, but no "
            "optimizer that still steps holds them",
            why=f"the optimizer of that time was made at {working.line}, when they were frozen; nothing has updated "
            "them since, so they stay as they are",
            remedy="make a new optimizer after they are thawed, or optimizer.add_param_group({'params': …})",
            **_thawed_at(run, thaw, working),
            evidence=(
                Evidence(name="tensors_without_optimizer", value=count, limit="0"),
                Evidence(name="examined_steps", value=len(lent)),
            ),
            confidence=0.93,
        )
        return


def _thawed_at(run: Run, thaw: Freeze | None, working: Optimizer) -> Places:
    """The line that thaws, not the one inside of a helper that freezes and thaws; and the optimizer."""
    if thaw is None:
        return Places(where=working.where, also=())
    call = switched_by(program(run), thaw.where, working.where, value=True)
    return Places(where=edited_at(thaw.where, call)["where"], also=(working.where,))


def _lent(census: Census, optimizer: Optimizer) -> int:
    """How many parameters of this optimizer got a gradient for the step of another.

    If it is gone, they belong to nobody: then by their names, which those of a model made like it share.
    """
    alive = (census.lent or {}).get(str(optimizer.number), 0)
    still = [name for name, flags in census.outside.items() if flags & TRAINABLE and not flags & MOVED]
    return alive or len(_held_by(optimizer) & {*still})


def _of_an_earlier_model(run: Run, optimizer: Optimizer, name: str) -> bool:
    """Whether the optimizer held this parameter of another model, made elsewhere, whose name was used again."""
    root = name.partition(".")[0]
    models = [model for model in run.facts(Model) if model.name == root]
    own = [model for model in models if model.step <= optimizer.step]
    steps = [step.last_step for step in run.facts(Step) if step.optimizer == optimizer.number]
    later = [model for model in models if steps and model.step > max(steps)]
    return bool(own and later) and _made(own[-1]) != _made(later[-1])


def _made(model: Model) -> tuple[str | None, int | None]:
    return model.where.file, model.where.line


def _held_by(optimizer: Optimizer) -> set[str]:
    return {name for group in optimizer.groups for name in group.parameters}


def _left_out(run: Run, optimizer: Optimizer, names: list[str]) -> Link | None:
    """Where these parameters miss the optimizer: they were created after it, or not selected."""
    steps = [census.step for census in run.facts(Census)]
    came = min(census.step for census in run.facts(Census) if set(names) & set(census.outside))
    return rebuilt_at(program(run), layers(names)) if came > min(steps) else _chosen(run, optimizer)


def _chosen(run: Run, optimizer: Optimizer) -> Link | None:
    """Where parameters are selected for the optimizer one by one: those that match no condition are missed."""
    for link in argument_history(run, optimizer.where, [optimizer.class_]):
        loop = loop_around(link.scope, link.line)
        branch = last_branch(link.scope, link.line)
        if loop is not None and branch is not None and names_any(loop.iter, _ALL_OF_THEM) and not branch.orelse:
            return replace(link, line=branch.lineno)
        picked = [node for node in ast.walk(link.node) if isinstance(node, ast.comprehension) and node.ifs]
        if any(names_any(node.iter, _ALL_OF_THEM) for node in picked):
            return link
    return None


def _only_passed_through(run: Run, root: str) -> bool:
    """A whole model without an optimizer: gradients flow through it to something else.

    It is in eval mode, or its inputs have gradients and it only measures, as in a perceptual loss.
    """
    modes = [event.training for event in run.facts(TrainForward) if event.module == root]
    calls = [event for event in run.facts(Forward) if event.module == root and event.grad]
    passes_on = any(given.requires_grad for call in calls for given in call.inputs)
    return (bool(modes) and not any(modes)) or (passes_on and _is_yardstick(run, root))


def _is_copy_of_trained(run: Run, model: Model, held: set[str]) -> bool:
    """Whether it has the same parameters as a model that is trained: a target network whose gradients are not used."""
    trained = {h.name for h in parameter_histories(run) if h.with_gradient and h.name in held}
    same = [other for other in run.facts(Model) if other is not model and _signature(other) == _signature(model)]
    return any(p.name in trained for other in same for p in other.parameters)


def _signature(model: Model) -> list[tuple[str, tuple[int, ...]]]:
    return [(p.name.partition(".")[2], tuple(p.shape)) for p in model.parameters]


def _is_yardstick(run: Run, root: str) -> bool:
    """Whether its outputs are compared with each other, or only it is called repeatedly without gradients.

    An evaluation would also call the trained models in the same step.
    """
    pairs = [(call.maker, call.target_maker) for call in run.facts(LossCall, phase="train")]
    if any(all(_root(maker) == root for maker in pair) for pair in pairs):
        return True
    looks = [event for event in run.facts(EvalForward) if not event.grad]
    evaluated = {event.step for event in looks if _root(event.module) != root}
    return any(_root(e.module) == root and e.count >= 3 and e.step not in evaluated for e in looks)


def _root(maker: str | None) -> str:
    """'net' of 'net.head (Linear)'."""
    return (maker or "").partition(" ")[0].partition(".")[0]
