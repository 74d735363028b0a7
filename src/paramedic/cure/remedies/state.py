"""PM617, PM703, PM517: values that are carried on are cut off from the graph that made them."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit, Splice
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Node, Source
from paramedic.findings import Finding


@remedy("PM617", compare="metrics")
def detach_the_state(finding: Finding, source: Source) -> Iterator[Edit]:
    """The hidden state goes on to the next batch as a value."""
    statement = source.statement_at(finding.where.line)
    if not isinstance(statement, cst.SimpleStatementLine) or source.indent_of(statement) is None:
        return
    for call in source.all(cst.Call, statement):
        carried = {source.dotted(arg.value) for arg in call.args} & set(source.assigned_names(statement))
        for name in sorted(carried - {""}):
            extra = _without_retaining(source, statement)
            ways = {"": f"{name}.detach()", ", part by part": f"tuple(part.detach() for part in {name})"}
            for how, value in ways.items():
                line = source.after(statement, f"{name} = {value}")
                yield source.edit(f"carry {name} on without its graph{how}", line, *extra)


@remedy("PM703")
def keep_values_only(finding: Finding, source: Source) -> Iterator[Edit]:
    """What is collected over the steps is kept without its graph."""
    statement = source.statement_at(finding.where.line)
    if not isinstance(statement, cst.SimpleStatementLine):
        return
    kept = [
        call.args[0].value for call in source.calls_at(finding.where.line, ("append", "add", "appendleft")) if call.args
    ]
    kept += [node.value for node in source.all(cst.AugAssign, statement)]
    for value in kept:
        if isinstance(value, cst.Name | cst.Attribute | cst.Subscript):
            yield source.edit(
                "keep the value without its graph", source.replace(value, f"{source.code(value)}.detach()")
            )
        elif isinstance(value, cst.BinaryOperation | cst.Call):
            new = f"{source.operand(value)}.detach()"
            yield source.edit("keep the value without its graph", source.replace(value, new))


@remedy("PM517", compare="metrics")
def target_as_given(finding: Finding, source: Source) -> Iterator[Edit]:
    """The target is a value; no gradient flows into what made it."""
    statement = source.statement_at(finding.where.line)
    if not isinstance(statement, cst.SimpleStatementLine):
        return
    for call in source.all(cst.Call, statement):
        is_loss = any(word in source.called(call).lower() for word in ("loss", "crit"))
        if is_loss and len(call.args) >= 2 and not call.args[1].keyword:
            yield _detached(source, call.args[1].value, "the target")
    names = source.assigned_names(statement)
    for assign in source.all(cst.Assign, statement):
        if len(names) == 1 and any(word in names[0].lower() for word in ("target", "adv", "return", "y_", "next")):
            yield _detached(source, assign.value, names[0])
    for operation in source.all(cst.BinaryOperation, statement):
        if isinstance(operation.operator, cst.Multiply | cst.Subtract):
            sides = sorted((operation.left, operation.right), key=lambda side: not isinstance(side, cst.Name))
            for side in sides:
                if not isinstance(side, cst.Integer | cst.Float):
                    yield _detached(source, side, source.code(side))


def _detached(source: Source, node: Node, what: str) -> Edit:
    return source.edit(f"detach {what}", source.replace(node, f"{source.operand(node)}.detach()"))


def _without_retaining(source: Source, statement: Node) -> list[Splice]:
    """retain_graph=True was only needed while the state kept its graph."""
    found = []
    for call in source.calls("backward", source.scope(statement)):
        if len(call.args) == 1 and call.args[0].keyword and call.args[0].keyword.value == "retain_graph":
            found.append(source.replace(call.args[0], ""))
    return found
