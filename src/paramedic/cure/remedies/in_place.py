"""PM423: a value that backward() still needs is not overwritten."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit, Splice
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Source
from paramedic.findings import Finding

OPERATORS = {
    cst.AddAssign: "+", cst.SubtractAssign: "-", cst.MultiplyAssign: "*", cst.DivideAssign: "/", cst.PowerAssign: "**",
    cst.MatrixMultiplyAssign: "@",
}  # fmt: skip


@remedy("PM423")
def new_tensor(finding: Finding, source: Source) -> Iterator[Edit]:
    """`x = x + y` in place of `x += y`, and `relu` in place of `relu_`."""
    statement = source.statement_at(finding.where.line)
    if not isinstance(statement, cst.SimpleStatementLine):
        return
    for node in source.all(cst.AugAssign, statement):
        sign = OPERATORS.get(type(node.operator))
        if sign and isinstance(node.target, cst.Name | cst.Attribute):
            name = source.code(node.target)
            right = source.code(node.value) if sign == "+" else source.operand(node.value)
            yield source.edit("make a new tensor", source.replace(node, f"{name} = {name} {sign} {right}"))
    for call in source.all(cst.Call, statement):
        name = source.called(call)
        if not name.endswith("_") or not isinstance(call.func, cst.Attribute) or name.endswith("__"):
            continue
        splices = [source.replace(call.func.attr, name.rstrip("_"))]
        if isinstance(source.parent(call), cst.Expr):
            start = source.span(call)[0]
            splices.append(Splice(start, start, f"{source.code(source.applied_to(call))} = "))
        yield source.edit("make a new tensor", *splices)
    for call in source.all(cst.Call, statement):
        flag = source.argument(call, None, "inplace")
        if flag is not None and source.code(flag) == "True":
            yield source.edit("make a new tensor", source.replace(flag, "False"))
