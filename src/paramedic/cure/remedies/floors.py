"""PM507: terms that cannot be negative, written as they are defined."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit, Splice
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Node, Source
from paramedic.findings import Finding

NORMALISED = ("softmax", "log_softmax")


@remedy("PM507", compare="nothing")
def choose_then_normalise(finding: Finding, source: Source) -> Iterator[Edit]:
    """Probabilities of some classes sum to 1 if the classes are chosen before the softmax."""
    statement = source.statement_at(finding.where.line)
    if statement is None:
        return
    splices = []
    for node in source.all(cst.Subscript, source.scope(statement)):
        call = node.value
        if isinstance(call, cst.Call) and source.called(call) in NORMALISED:
            inner = source.applied_to(call)
            chosen = source.text[source.span(call)[1] : source.span(node)[1]]
            splices.append(_moved(source, node, call, inner, chosen))
    if splices:
        yield source.edit("choose the classes before they are normalised", *splices)


@remedy("PM507", compare="nothing")
def one_variance(finding: Finding, source: Source) -> Iterator[Edit]:
    """`1 + log_var - mean² - exp(log_var)`: the exponent is the logarithm that is added."""
    for statement in _made_here(source, finding):
        for call in source.calls("exp", statement):
            exponent = source.applied_to(call)
            for node in source.all(cst.BinaryOperation, statement):
                if isinstance(node.operator, cst.Add) and source.code(node.left) in ("1", "1.0"):
                    added = node.right
                    if source.code(added) != source.code(exponent) and source.mentions(added, source.code(exponent)):
                        new = source.code(added) if not source.is_method(call) else source.operand(added)
                        title = f"exp({source.code(added)}), the variance whose logarithm is added"
                        yield source.edit(title, source.replace(exponent, new))


@remedy("PM507", compare="nothing")
def inner_corner(finding: Finding, source: Source) -> Iterator[Edit]:
    """An intersection begins at the larger of two beginnings and ends at the smaller of two ends."""
    statement = source.statement_at(finding.where.line)
    if statement is None:
        return
    for call in source.calls(("max", "maximum", "min", "minimum"), source.scope(statement)):
        sides = [source.code(argument.value) for argument in call.args[:2]]
        ends = len(sides) == 2 and all(re.search(r"\[.*\b2:(4)?\]$|\[.*,\s*[23]\]$", side) for side in sides)
        starts = len(sides) == 2 and all(re.search(r"\[.*,\s*:2\]$|\[.*,\s*[01]\]$", side) for side in sides)
        wanted = "min" if ends else "max" if starts else ""
        name = source.called(call)
        if wanted and not name.startswith(wanted) and isinstance(call.func, cst.Attribute):
            new = wanted + name[3:]
            yield source.edit(f"{new} of the {'ends' if ends else 'beginnings'}", source.replace(call.func.attr, new))


def _moved(source: Source, node: Node, call: Node, inner: Node, chosen: str) -> Splice:
    text = source.code(call)
    start = source.span(call)[0]
    first, last = (at - start for at in source.span(inner))
    return source.replace(node, f"{text[:first]}{source.operand(inner)}{chosen}{text[last:]}")


def _made_here(source: Source, finding: Finding) -> list[Node]:
    statement = source.statement_at(finding.where.line)
    if statement is None:
        return []
    lines = source.all(cst.SimpleStatementLine, source.scope(statement))
    return [statement, *(line for line in lines if line is not statement and source.calls("exp", line))]
