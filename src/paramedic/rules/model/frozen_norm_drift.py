"""PM420."""

from collections.abc import Iterator, Sequence

from paramedic.record.facts import Average, EvalForward, Forward, Load, Mode, Model, NormDrift, Teacher, TrainForward
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import listed, many


@rule("PM420", "frozen-norm-drift", severity="warning", coverage=[Forward])
def check(run: Run, *, drift: float = 0.4) -> Iterator[Finding]:
    """BatchNorm layers with frozen weights still update their statistics.

    `requires_grad = False` stops the gradients; `train()` mode still normalises with the batch and updates
    `running_mean` and `running_var`.

    ## Why it hurts
    The features of a "frozen" backbone drift with the new data, and in evaluation differ from those the head was
    trained on. A frozen teacher in train mode gives outputs that depend on the batch, and its statistics follow the
    student's data.

    ## What to try first
    `backbone.eval()` after every `model.train()`, for example in an overridden `train()`; `teacher.eval()` before using
    it.

    ## When this is wrong
    When the statistics should adapt to the new data while the weights stay fixed. Teachers and momentum encoders whose
    weights follow the student are not reported. Layers that were trained earlier in the same run are reported only if
    they stay frozen until the end and their statistics have gone far: on the data they were trained on, they stay.

    ## Options
    `drift`: how far, in standard deviations, the running mean of a layer that was trained earlier must have gone since
    it was frozen.
    """
    yield from _teachers(run)
    events = run.facts(TrainForward)
    following = [f".{e.module}." for e in run.facts(Teacher) if e.moved]
    following += [f".{e.module}." for e in run.facts(Average) if e.kind != "still"]
    trained_until = _trained_until(events)
    gone = {e.module for e in run.facts(NormDrift) if e.furthest >= drift}
    reported: set[str | None] = set()
    for event in events:
        drifting = [
            m.path
            for m in event.moody
            if m.norm
            and m.training
            and m.weights
            and not m.trainable
            and (m.path not in trained_until or (trained_until[m.path] < event.step and event.module in gone))
            and not any(part in f".{m.path}." for part in following)
        ]
        if not drifting or event.count < 2 or event.module in reported or not _trains_something(run, event):
            continue
        reported.add(event.module)
        switch = _last_switch(run, event, drifting[0])
        yield Finding(
            what=f"{listed(drifting)}: frozen weights, but in train mode, so the running statistics still move",
            why="only eval() stops BatchNorm from using and updating batch statistics; requires_grad does not",
            remedy=f"after {event.module}.train(), set the frozen part back to eval mode: {_part(drifting)}.eval()",
            where=switch.where if switch else event.where,
            evidence=(Evidence(name="frozen_norms_in_train_mode", value=len(drifting), limit="0"),),
            confidence=0.92,
        )


def _trained_until(events: Sequence[TrainForward]) -> dict[str, int]:
    """The last step in which each norm was trainable. One that is trained again later is frozen for its turn only."""
    last: dict[str, int] = {}
    for event in events:
        for m in event.moody:
            if m.norm and m.trainable:
                last[m.path] = max(last.get(m.path, -1), event.last_step)
    return last


def _teachers(run: Run, fewest: int = 8) -> Iterator[Finding]:
    """Models that are entirely frozen and whose outputs other models learn from."""
    asked = {e.module for e in run.facts(EvalForward) if e.training and "training" in e.uses}
    renewed = {event.module for event in run.facts(Load)}
    events = run.facts(Teacher)
    for name in sorted({event.module for event in events if event.module} & asked - renewed):
        own = [event for event in events if event.module == name]
        times = sum(event.count for event in own)
        if times < fewest or any(event.moved for event in own):
            continue
        switch = next((m for m in reversed(run.facts(Mode)) if m.training and m.module == name), None)
        yield Finding(
            what=f"{name} is frozen and others learn from its outputs, but it is in train mode: the "
            f"statistics of {many(own[0].norms, 'BatchNorm layer')} move with every call",
            why="in train mode it normalises with batch statistics, so its outputs change",
            remedy=f"{name}.eval() before using it",
            where=switch.where if switch is not None else own[0].where,
            evidence=(Evidence(name="calls_in_train_mode", value=times, limit="0"),),
            confidence=0.9,
        )


def _trains_something(run: Run, event: TrainForward) -> bool:
    """Whether the same model has weights that an optimizer holds: then the frozen ones are frozen on purpose."""
    return any(
        p.optimizer is not None and p.requires_grad
        for model in run.facts(Model)
        if model.name == event.module
        for p in model.parameters
    )


def _part(paths: list[str]) -> str:
    """The part of the model that holds them all: 'model.backbone'."""
    common = paths[0].split(".")[:-1]
    for path in paths[1:]:
        common = [a for a, b in zip(common, path.split("."), strict=False) if a == b]
    return ".".join(common[:2]) if len(common) > 1 else paths[0]


def _last_switch(run: Run, event: TrainForward, path: str) -> Mode | None:
    """The train() call that put them into train mode."""
    switches = [
        m for m in run.facts(Mode) if m.training and m.step <= event.last_step and path.startswith(m.module or "-")
    ]
    return switches[-1] if switches else None
