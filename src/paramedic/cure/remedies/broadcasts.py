"""PM501: values of shape (N, 1) and (N,) are brought to one shape before they meet."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Node, Source
from paramedic.findings import Finding

KEEPS_AXIS = ("gather", "max", "sum", "mean", "amax", "min")


@remedy("PM501", compare="answers")
def one_shape(finding: Finding, source: Source) -> Iterator[Edit]:
    """The side with the axis of length 1 loses it. Which side that is, is measured; where it is not, both are tried."""
    statement = source.statement_at(finding.where.line)
    if statement is None:
        return
    column = _column(finding)
    for call in _losses(source, statement):
        prediction, target = (argument.value for argument in call.args[:2])
        if column == "prediction":
            if isinstance(prediction, cst.Name):
                new = f"{source.operand(target)}.view_as({source.code(prediction)})"
                yield source.edit("give the target the shape of the prediction", source.replace(target, new))
            yield _squeezed(source, prediction, "prediction")
        else:
            yield _squeezed(source, target, "target")
    for operation in _meetings(source, statement):
        for side in (operation.left, operation.right):
            if not isinstance(side, cst.Integer | cst.Float):
                yield _squeezed(source, side, source.code(side))
    for call in source.calls_at(finding.where.line, KEEPS_AXIS):
        kept = source.called(call) == "gather" or source.argument(call, None, "keepdim") is not None
        if kept and isinstance(statement, cst.SimpleStatementLine) and source.assigned_names(statement):
            yield source.edit("drop the axis of length 1", source.replace(call, f"{source.code(call)}.squeeze(1)"))


def _column(finding: Finding) -> str:
    shapes = {fact.name: str(fact.value).strip("()").rstrip(",").split(",") for fact in finding.evidence}
    prediction, target = shapes.get("prediction_shape", ["", "1"]), shapes.get("target_shape", [""])
    return "prediction" if prediction[-1].strip() == "1" and len(prediction) > len(target) else "target"


def _losses(source: Source, statement: Node) -> list[Node]:
    """Calls that compare two values: by a name that says so."""
    found = [call for call in source.all(cst.Call, statement) if source.statement_of(call) is statement]
    named = [call for call in found if any(word in source.called(call).lower() for word in ("loss", "crit", "entropy"))]
    return [call for call in named if len(call.args) >= 2 and not any(arg.keyword or arg.star for arg in call.args[:2])]


def _meetings(source: Source, statement: Node) -> list[Node]:
    """Differences before products, as a loss is made of them."""
    kinds = (cst.Subtract, cst.Multiply, cst.Add)
    found = [node for node in source.all(cst.BinaryOperation, statement) if isinstance(node.operator, kinds)]
    return sorted(found, key=lambda node: next(i for i, kind in enumerate(kinds) if isinstance(node.operator, kind)))


def _squeezed(source: Source, node: Node, what: str) -> Edit:
    return source.edit(
        f"drop the axis of length 1 of {what}", source.replace(node, f"{source.operand(node)}.squeeze(-1)")
    )
