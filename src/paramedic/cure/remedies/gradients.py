"""PM601, PM602: gradients are cleared once per step, between the step that used them and the next backward()."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit
from paramedic.cure.remedy import remedy
from paramedic.cure.source import LOOPS, Node, Source
from paramedic.findings import Finding

BACKWARD = ("backward", "manual_backward")
NO_OPTIMIZER = re.compile(r"sched|scaler|bar|profiler|prof$|env")


@remedy("PM601")
def clear_before_backward(finding: Finding, source: Source) -> Iterator[Edit]:
    """`optimizer.zero_grad()` in front of the backward() whose step follows; of an accumulation, behind the step."""
    statement = source.statement_at(finding.where.line)
    if statement is None:
        return
    scope = source.scope(statement)
    here = source.span(statement)[0]
    backward = [source.statement_of(call) for call in source.calls(BACKWARD, scope)]
    for step in steps(source, scope):
        name = source.code(source.owner(step))
        stepping = source.statement_of(step)
        first = _first_backward(source, backward, stepping, here)
        clearing = f"{name}.zero_grad()"
        if first is None or source.indent_of(stepping) is None or source.indent_of(first) is None:
            continue
        if isinstance(source.enclosing(stepping, (cst.If, *LOOPS)), cst.If) and not _same_block(
            source, first, stepping
        ):
            if not _clears(source, source.parent(stepping), name):
                yield source.edit(f"clear the gradients of {name} after its step", source.after(stepping, clearing))
        elif not _clears_between(source, name, first, stepping):
            yield source.edit(f"clear the gradients of {name} before backward()", source.before(first, clearing))
    if not steps(source, scope):
        for step in steps(source, source.module):
            name = source.code(source.owner(step))
            if not _clears(source, source.scope(step), name):
                after = source.after(source.statement_of(step), f"{name}.zero_grad()")
                yield source.edit(f"clear the gradients of {name} after its step", after)


@remedy("PM602")
def clear_elsewhere(finding: Finding, source: Source) -> Iterator[Edit]:
    """A zero_grad() between backward() and step() goes before backward(), or behind the step of an accumulation."""
    clearing = source.statement_at(finding.where.line)
    if clearing is None or not source.calls("zero_grad", clearing) or source.indent_of(clearing) is None:
        return
    block, place = source.siblings(clearing)
    for other in reversed(block[:place]):
        if source.calls(BACKWARD, other):
            to = source.before(other, "")
            moved = source.move(clearing, to, indent=source.indent_of(other) or "")
            yield source.edit("clear the gradients before backward()", *moved)
            break
    for step in steps(source, source.scope(clearing)):
        stepping = source.statement_of(step)
        if source.parent(stepping) is not source.parent(clearing) and source.indent_of(stepping) is not None:
            to = source.after(stepping, "")
            moved = source.move(clearing, to, indent=source.indent_of(stepping) or "")
            yield source.edit("clear the gradients only after a step", *moved)


def steps(source: Source, scope: Node) -> list[Node]:
    """Calls of an optimizer's step(), in the order of the text."""
    found = []
    for call in source.calls("step", scope):
        owner = source.owner(call)
        if owner is not None and not NO_OPTIMIZER.search(source.code(owner).lower()) and source.scope(call) is scope:
            found.append(call)
    return found


def _first_backward(source: Source, backward: list[Node], stepping: Node, here: int) -> Node | None:
    """The backward() of this step: the one of the finding if it comes before, else the nearest one before."""
    before = [found for found in backward if source.span(found)[0] < source.span(stepping)[0]]
    own = [found for found in before if source.span(found)[0] >= here]
    return own[0] if own else before[-1] if before else None


def _same_block(source: Source, one: Node, other: Node) -> bool:
    return source.parent(one) is source.parent(other)


def _clears(source: Source, node: Node, name: str) -> bool:
    return any(source.code(source.owner(call)) == name for call in source.calls("zero_grad", node))


def _clears_between(source: Source, name: str, backward: Node, stepping: Node) -> bool:
    """Whether the block itself clears, at every pass, just before this backward()."""
    block, place = source.siblings(backward)
    steps_of = [i for i, other in enumerate(block[:place]) if source.calls("step", other)]
    since = steps_of[-1] if steps_of else 0
    return any(_clears(source, other, name) for other in block[since:place])
