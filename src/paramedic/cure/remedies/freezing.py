"""PM404, PM405: requires_grad is set on the parameters themselves, and so are their values."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Node, Source
from paramedic.findings import Finding


@remedy("PM404", compare="nothing")
def freeze(finding: Finding, source: Source) -> Iterator[Edit]:
    """Of a module with requires_grad_(); of a parameter by the attribute that torch knows."""
    statement = source.statement_at(finding.where.line)
    if not isinstance(statement, cst.SimpleStatementLine):
        return
    for assign in source.all(cst.Assign, statement):
        target = assign.targets[0].target
        if not isinstance(target, cst.Attribute):
            continue
        if target.attr.value != "requires_grad":
            yield source.edit("spell it requires_grad", source.replace(target.attr, "requires_grad"))
        elif "requires_grad_(" in finding.remedy:
            new = f"{source.code(target.value)}.requires_grad_({source.code(assign.value)})"
            yield source.edit("freeze the parameters of the module", source.replace(assign, new))
        elif "p.grad = None" in finding.remedy:
            line = f"{source.code(target.value)}.grad = None"
            yield source.edit("drop the gradient it still has", source.after(statement, line))
        else:
            yield from _loop_over_parameters(source, statement)


@remedy("PM403", compare="metrics")
def on_all_the_way(finding: Finding, source: Source) -> Iterator[Edit]:
    """A part that has an optimizer is not frozen between its steps."""
    module = finding.where.module or ""
    if "leave requires_grad on" not in finding.remedy or not module:
        return
    splices = []
    for assign in source.all(cst.Assign):
        target, loop = assign.targets[0].target, source.enclosing(assign, cst.For)
        frozen = source.dotted(target).endswith(".requires_grad") and source.code(assign.value) == "False"
        if frozen and loop is not None and source.code(loop.iter).startswith(f"{module}."):
            splices.append(source.replace(assign.value, "True"))
    if splices:
        yield source.edit(f"leave requires_grad of {module} on", *splices)


@remedy("PM405")
def values_in_order(finding: Finding, source: Source) -> Iterator[Edit]:
    """A parameter whose values lie in another order in memory may be written to in vain; a contiguous one is not."""
    turned = [call for call in source.calls("Parameter") if source.calls(("t", "transpose", "permute", "expand"), call)]
    for call in source.calls_at(finding.where.line, "Parameter") or turned:
        given = source.argument(call, 0, "data")
        if given is not None and not source.code(given).endswith(".contiguous()"):
            new = f"{source.operand(given)}.contiguous()"
            yield source.edit("give the parameter values of its own, in order", source.replace(given, new))


@remedy("PM405")
def in_place(finding: Finding, source: Source) -> Iterator[Edit]:
    """`p = p - step` gives a name to a new tensor; `p -= step` changes the parameter."""
    statement = source.statement_at(finding.where.line)
    scope = source.scope(statement) if statement is not None else source.module
    for assign in source.all(cst.Assign, scope):
        target, value = assign.targets[0].target, assign.value
        if not isinstance(value, cst.BinaryOperation) or not source.mentions(value, f"{source.code(target)}.grad"):
            continue
        sign = {cst.Subtract: "-=", cst.Add: "+="}.get(type(value.operator))
        if sign and source.code(value.left) == source.code(target):
            new = f"{source.code(target)} {sign} {source.code(value.right)}"
            yield source.edit("update the parameter in place", source.replace(assign, new))


def _loop_over_parameters(source: Source, statement: Node) -> Iterator[Edit]:
    """The loop goes over all parameters: not over copies, and not only over those that are trainable now."""
    loop = source.enclosing(statement, cst.For)
    if loop is None:
        return
    for call in source.calls("state_dict", loop.iter):
        items = source.parent(source.parent(call))
        whole = items if isinstance(items, cst.Call) and source.called(items) == "items" else call
        new = f"{source.code(source.owner(call))}.named_parameters()"
        yield source.edit("loop over the parameters, not over copies", source.replace(whole, new))
    for call in source.calls("parameters", loop.iter):
        if call is not loop.iter:
            yield source.edit("loop over all parameters", source.replace(loop.iter, source.code(call)))
