"""PM607, PM608: a scheduler steps after the optimizer, and as often as its horizon was meant for."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit
from paramedic.cure.remedies.gradients import steps
from paramedic.cure.remedy import remedy
from paramedic.cure.source import LOOPS, Node, Source
from paramedic.findings import Finding


@remedy("PM607", compare="metrics")
def schedule_last(finding: Finding, source: Source) -> Iterator[Edit]:
    """The scheduler's step goes to the end of its loop, behind the optimizer's."""
    statement = source.statement_at(finding.where.line)
    if not _is_schedule_step(source, statement):
        return
    block, place = source.siblings(statement)
    if place < len(block) - 1:
        moved = source.move(statement, source.after(block[-1], ""), indent=source.indent_of(statement) or "")
        yield source.edit("step the scheduler after the optimizer", *moved)


@remedy("PM608", compare="metrics")
def schedule_per_epoch(finding: Finding, source: Source) -> Iterator[Edit]:
    """A schedule that counts epochs steps after the loop over the batches; or only where the optimizer steps."""
    statement = source.statement_at(finding.where.line)
    if not _is_schedule_step(source, statement):
        return
    inner = source.enclosing(statement, LOOPS)
    for step in steps(source, source.scope(statement)):
        stepping = source.statement_of(step)
        if isinstance(source.enclosing(stepping, (cst.If, *LOOPS)), cst.If) and not source.inside(
            statement, source.parent(stepping)
        ):
            indent = source.indent_of(stepping) or ""
            moved = source.move(statement, source.after(stepping, ""), indent=indent)
            yield source.edit("step the scheduler only when the optimizer steps", *moved)
    if inner is not None and source.enclosing(inner, (*LOOPS, cst.FunctionDef)) is not None:
        indent = source.indent_of(inner) or ""
        moved = source.move(statement, source.after(inner, ""), indent=indent)
        yield source.edit("step the scheduler once per epoch", *moved)


@remedy("PM608", compare="metrics")
def plateau_of_a_score(finding: Finding, source: Source) -> Iterator[Edit]:
    """A metric that should rise needs mode="max"."""
    for call in source.calls_at(finding.where.line, "ReduceLROnPlateau"):
        if source.argument(call, 1, "mode") is None and not _is_loss(source, call):
            yield source.edit('wait for the score to stop rising: mode="max"', source.add_argument(call, 'mode="max"'))


@remedy("PM608", compare="metrics")
def schedule_of_the_new(finding: Finding, source: Source) -> Iterator[Edit]:
    """A scheduler knows the optimizer that it was made for: a new one gets a scheduler of its own."""
    statement = source.statement_at(finding.where.line)
    if not isinstance(statement, cst.SimpleStatementLine) or "for the new optimizer" not in finding.remedy:
        return
    for name in source.assigned_names(statement):
        for call in source.all(cst.Call):
            made = source.statement_of(call)
            first = source.argument(call, 0, "optimizer")
            is_new = isinstance(made, cst.SimpleStatementLine) and source.assigned_names(made)
            if first is not None and source.code(first) == name and is_new and source.called(call)[:1].isupper():
                line = source.after(statement, source.code(made).strip())
                yield source.edit("make a scheduler for the new optimizer", line)


@remedy("PM608", compare="metrics")
def factor_of_one(finding: Finding, source: Source) -> Iterator[Edit]:
    """A rate times 0 is 0 for good; times 1 it stays."""
    if "gamma=1" not in finding.remedy:
        return
    for call in source.calls_at(finding.where.line, ("StepLR", "MultiStepLR", "ExponentialLR")):
        gamma = source.argument(call, None, "gamma")
        if gamma is not None and source.code(gamma) in ("0", "0.0", "0."):
            yield source.edit("leave the rate as it is: gamma=1", source.replace(gamma, "1"))


@remedy("PM206", "PM608", compare="metrics")
def step_the_wrapper(finding: Finding, source: Source) -> Iterator[Edit]:
    """A wrapper that sets the rate does so in its own step()."""
    for call in source.calls_at(finding.where.line, "step") or source.calls("step"):
        owner = source.owner(call)
        inner = isinstance(owner, cst.Attribute) and owner.attr.value in ("optimizer", "optim", "opt", "_optimizer")
        if inner and owner is not None and source.code(owner.value) != "self":
            title = f"step through {source.code(owner.value)}"
            yield source.edit(title, source.replace(owner, source.code(owner.value)))


def _is_loss(source: Source, plateau: Node) -> bool:
    """Whether what its steps are given is called a loss."""
    names = source.assigned_names(source.statement_of(plateau))
    given = [
        source.code(call.args[0].value).lower()
        for call in source.calls("step")
        if call.args and source.owner(call) is not None and source.code(source.owner(call)) in names
    ]
    return any("loss" in text for text in given)


def _is_schedule_step(source: Source, statement: Node | None) -> bool:
    return (
        isinstance(statement, cst.SimpleStatementLine)
        and len(source.calls("step", statement)) == 1
        and source.indent_of(statement) is not None
        and not source.assigned_names(statement)
    )
