"""PM611."""

from collections.abc import Iterator

from paramedic.record.facts import Backward, EvalForward, Mode, Model, TrainForward
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.lines import edited_at, spelled_at
from paramedic.rules.support import listed
from paramedic.static.calls import taken_at
from paramedic.static.program import program


@rule("PM611", "eval-mode-in-training", severity="error", needs=[TrainForward], causes=["PM403"])
def check(run: Run) -> Iterator[Finding]:
    """The model is trained while it is in eval mode.

    Dropout is off and BatchNorm uses, and no longer updates, its running statistics.

    ## Why it hurts
    Usually `model.eval()` was called for validation, and `model.train()` only once, before the first epoch. From the
    first validation on there is no regularisation, and the BatchNorm statistics are those of the first epoch.

    ## What to try first
    `model.train()` at the start of every training phase, for example as the first line of the training function.

    ## When this is wrong
    Sub-modules kept in eval mode on purpose, such as a frozen backbone or single BatchNorm layers, are not reported. A
    trained part that was put into eval mode when it was built, before any train() call, is: most likely it was loaded
    that way.
    """
    yield from _parts(run)
    reported: set[str | None] = set()
    for event in run.facts(TrainForward):
        affected = [m for m in event.moody if not m.training and (not m.norm or m.trainable)]
        if event.training or not affected or event.module in reported or event.count < 2:
            continue
        reported.add(event.module)
        own = _before_library_loop(run, event)
        switch = own or _last_switch(run, event)
        left = own is not None or (switch is not None and _left_so(run, switch, event))
        since = f", in eval mode since {switch.line}" if switch else ""
        shown = f" ({event.line})" if left else ""
        yield Finding(
            what=f"training step {event.step:,}{shown} ran with {event.module} in eval mode{since}",
            why=f"{listed([m.path + ' (' + m.class_ + ')' for m in affected])} are off or keep old statistics",
            remedy=f"call {event.module}.train() after this, or at the start of every training epoch"
            if left
            else f"call {event.module}.train() at the start of every training epoch",
            where=switch.where if switch is not None and left else event.where,
            evidence=(
                Evidence(name="modules_in_eval_mode", value=len(affected), limit="0 while training"),
                Evidence(name="first_step", value=event.step),
            ),
            confidence=0.97 if switch else 0.9,
        )


def _parts(run: Run) -> Iterator[Finding]:
    """A trained part of the model was passed in eval mode, and train() was never called on the whole."""
    trained = {p.name for model in run.facts(Model) for p in model.parameters if p.requires_grad}
    told: set[str] = set()
    for event in run.facts(TrainForward):
        idle = [m for m in event.moody if not m.training]
        part = _common([m.path for m in idle])
        inside = [m for m in event.moody if m.path.startswith(f"{part}.")]
        if not event.training or event.count < 3 or not part or part == event.module or part in told:
            continue
        if any(m.training for m in inside) or not any(name.startswith(f"{part}.") for name in trained):
            continue
        if any(m.norm and not m.trainable for m in idle):
            continue
        switch = _handed_over(run, event)
        if switch is None:
            continue
        told.add(part)
        yield Finding(
            what=f"{part} has been trained in eval mode since {switch.line}; the rest of {event.module} is in train "
            "mode",
            why=f"{listed([m.path + ' (' + m.class_ + ')' for m in idle])} are off or keep old statistics, and "
            "the loop "
            "never calls train()",
            remedy=f"call {part}.train() where it is built, or {event.module}.train() before training",
            **edited_at(switch.where, taken_at(program(run), switch.where)),
            severity="warning",
            evidence=(Evidence(name="modules_in_eval_mode", value=len(idle), limit="0 while training"),),
            confidence=0.88,
        )


def _common(paths: list[str]) -> str:
    """The part of the model that contains all of these modules, but is not one of them."""
    parts = [path.split(".")[:-1] for path in paths]
    shared = parts[0] if parts else []
    for other in parts[1:]:
        shared = shared[: next((i for i, (a, b) in enumerate(zip(shared, other, strict=False)) if a != b), len(other))]
    return ".".join(shared)


def _handed_over(run: Run, event: TrainForward) -> Mode | None:
    """The one eval() of a part before this training began, not on a layer by itself and not after a train()."""
    switches = [m for m in run.facts(Mode) if m.step <= event.step]
    parts = [m for m in switches if not m.training and m.module != event.module and "Norm" not in m.class_]
    parts = [m for m in parts if not any(o.training and o.address == m.address and o.id > m.id for o in switches)]
    if len(parts) != 1 or parts[0].count > 1 or "Dropout" in parts[0].class_:
        return None
    whole = [m for m in switches if m.training and m.module == event.module and m.id < parts[0].id]
    return None if whole else parts[0]


def _last_switch(run: Run, event: TrainForward) -> Mode | None:
    switches = [m for m in run.facts(Mode) if not m.training and m.step <= event.step and m.module == event.module]
    return switches[-1] if switches else None


def _before_library_loop(run: Run, event: TrainForward) -> Mode | None:
    """The user's own eval() before the first step, where a library runs the loop: there is no line for a train().

    A library that leaves the mode alone, as Lightning does since 2.2, trains the model as it was handed over.
    """
    if event.step > 0 or any(spelled_at(run, b.where, ["backward"]) for b in run.facts(Backward)):
        return None
    switches = [m for m in run.facts(Mode) if m.module == event.module and m.step <= event.step]
    own = [m for m in switches if spelled_at(run, m.where, ["eval", "train"])]
    return own[-1] if own and not own[-1].training and own[-1].count == 1 else None


def _left_so(run: Run, switch: Mode, event: TrainForward) -> bool:
    """Whether a function that prepares the model, before the first step, returns it in eval mode.

    An evaluation before training does that as well; but then the training should call train().
    """
    if switch.count > 1 or event.step > 0 or switch.where.function in (None, "<module>", event.where.function):
        return False
    judged = [e for e in run.facts(EvalForward) if e.uses]
    return not any((e.where.file, e.where.function) == (switch.where.file, switch.where.function) for e in judged)
