"""PM202, PM604, PM605, PM606: gradients are clipped between backward() and step(), at their true size."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit
from paramedic.cure.remedies.gradients import steps
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Node, Source
from paramedic.findings import Finding

CLIPS = ("clip_grad_norm_", "clip_grad_value_", "clip_grad_norm")


@remedy("PM604", compare="metrics")
def clip_before_step(finding: Finding, source: Source) -> Iterator[Edit]:
    """The clipping statement goes in front of step()."""
    clip = source.statement_at(finding.where.line)
    if clip is None or not source.calls(CLIPS, clip) or source.indent_of(clip) is None or _next_step(source, clip):
        return
    for step in [*steps(source, source.scope(clip)), *_scaled_steps(source, source.scope(clip))]:
        stepping = source.statement_of(step)
        if source.indent_of(stepping) is None or stepping is clip:
            continue
        to = source.before(stepping, "")
        moved = source.move(clip, to, indent=source.indent_of(stepping) or "")
        yield source.edit("clip between backward() and step()", *moved)


@remedy("PM604", compare="metrics")
def clip_what_is_stepped(finding: Finding, source: Source) -> Iterator[Edit]:
    """Where the step that follows belongs to another network, that one is clipped."""
    clip = source.statement_at(finding.where.line)
    step = _next_step(source, clip) if clip is not None else None
    if clip is None or step is None:
        return
    optimizer = source.code(source.owner(step))
    made = [node for node in source.all(cst.Assign) if source.code(node.targets[0].target) == optimizer]
    stepped = [source.code(source.owner(call)) for node in made for call in source.calls("parameters", node.value)]
    for call in source.calls("parameters", clip):
        owner = source.owner(call)
        if len(stepped) == 1 and owner is not None and source.code(owner) != stepped[0]:
            yield source.edit(f"clip the gradients of {stepped[0]}", source.replace(owner, stepped[0]))


@remedy("PM604", compare="metrics")
def clip_a_list(finding: Finding, source: Source) -> Iterator[Edit]:
    """`model.parameters()` under a name is used up by its first reader; a list is not."""
    for clip in source.calls_at(finding.where.line, CLIPS):
        given = source.argument(clip, 0, "parameters")
        if not isinstance(given, cst.Name):
            continue
        for statement in source.assignments(given.value, clip) or _global(source, given.value):
            for assign in source.all(cst.Assign, statement):
                if isinstance(assign.value, cst.Call) and source.called(assign.value) in ("parameters", "filter"):
                    new = f"list({source.code(assign.value)})"
                    yield source.edit("keep the parameters in a list", source.replace(assign.value, new))


@remedy("PM202", safety="unsafe")
def clip_at_all(finding: Finding, source: Source) -> Iterator[Edit]:
    """Gradients that explode are clipped between backward() and step()."""
    statement = source.statement_at(finding.where.line)
    scope = source.scope(statement) if statement is not None else source.module
    models = {source.code(source.owner(call)) for call in source.calls("parameters") if source.owner(call) is not None}
    for call in source.calls("backward", scope)[:1]:
        backward = source.statement_of(call)
        if len(models) == 1 and not source.calls(CLIPS) and source.indent_of(backward) is not None:
            line = f"torch.nn.utils.clip_grad_norm_({models.pop()}.parameters(), 1.0)"
            yield source.edit("clip the gradients to a norm of 1", source.after(backward, line))


@remedy("PM605", compare="metrics")
def unscale_first(finding: Finding, source: Source) -> Iterator[Edit]:
    """`scaler.unscale_(optimizer)` in front of the clipping."""
    clip = source.statement_at(finding.where.line)
    if clip is None or source.indent_of(clip) is None:
        return
    for step in _scaled_steps(source, source.scope(clip)):
        scaler, optimizer = source.code(source.owner(step)), source.code(step.args[0].value)
        if not any(source.code(call.args[0].value) == optimizer for call in source.calls("unscale_") if call.args):
            line = f"{scaler}.unscale_({optimizer})"
            yield source.edit("bring the gradients back to their true size before clipping", source.before(clip, line))


@remedy("PM606", compare="metrics")
def step_through_the_scaler(finding: Finding, source: Source) -> Iterator[Edit]:
    """`scaler.step(optimizer); scaler.update()` in place of `optimizer.step()`."""
    statement = source.statement_at(finding.where.line)
    scale = source.calls("scale", source.scope(statement)) if statement is not None else []
    for step in source.calls_at(finding.where.line, "step"):
        if not scale or step.args or source.indent_of(statement) is None:
            continue
        scaler, optimizer = source.code(source.owner(scale[0])), source.code(source.owner(step))
        splices = [source.replace(step, f"{scaler}.step({optimizer})")]
        if not any(source.code(source.owner(call)) == scaler for call in source.calls("update")):
            splices.append(source.after(statement, f"{scaler}.update()"))
        yield source.edit("let the scaler take the step, which divides the gradients by its scale", *splices)


def _next_step(source: Source, clip: Node) -> Node | None:
    """The step right behind the clipping, in the same block, with a backward() before it."""
    block, place = source.siblings(clip)
    if not any(source.calls("backward", other) for other in block[:place]):
        return None
    found = [step for step in steps(source, source.scope(clip)) if source.statement_of(step) in block[place + 1 :]]
    return found[0] if found else None


def _scaled_steps(source: Source, scope: Node) -> list[Node]:
    """`scaler.step(optimizer)`."""
    found = [call for call in source.calls("step", scope) if call.args and source.owner(call) is not None]
    return [call for call in found if "scaler" in source.code(source.owner(call)).lower()]


def _global(source: Source, name: str) -> list[Node]:
    return [
        s for s in source.module.body if isinstance(s, cst.SimpleStatementLine) and name in source.assigned_names(s)
    ]
