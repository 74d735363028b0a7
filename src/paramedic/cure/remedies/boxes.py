"""PM312: boxes end after they begin."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Source
from paramedic.findings import Finding


@remedy("PM312", compare="metrics")
def corners(finding: Finding, source: Source) -> Iterator[Edit]:
    """Left, top, width and height become two corners where the box gets its name."""
    statement = source.statement_at(finding.where.line)
    if isinstance(statement, cst.FunctionDef):  # __getitem__: what it returns
        returns = [source.statement_of(node) for node in source.all(cst.Return, statement)]
        statement = returns[0] if returns else None
    if not isinstance(statement, cst.SimpleStatementLine) or "into corners" not in finding.remedy:
        return
    assigned = source.assigned_names(statement)
    returned = [source.dotted(n) for node in source.all(cst.Return, statement) for n in source.all(cst.Name, node)]
    for name in [name for name in (*assigned, *returned) if re.search(r"box|target|annot", name.lower())]:
        line = f"{name} = torch.cat([{name}[..., :2], {name}[..., :2] + {name}[..., 2:]], -1)"
        place = source.after(statement, line) if name in assigned else source.before(statement, line)
        if source.indent_of(statement) is not None:
            yield source.edit("turn width and height into a corner", place)


@remedy("PM312", compare="metrics")
def edges_exchanged(finding: Finding, source: Source) -> Iterator[Edit]:
    """`SIZE - box[[2, 0]]`: what was right is left in the mirror."""
    statement = source.statement_at(finding.where.line)
    for node in source.all(cst.BinaryOperation, statement) if statement is not None else []:
        if not isinstance(node.operator, cst.Subtract):
            continue
        for pair in source.all(cst.List, node.right):
            if re.fullmatch(r"\[\s*(\d)\s*,\s*(\d)\s*\]", source.code(pair)):
                first, second = (source.code(element.value) for element in pair.elements)
                new = f"[{second}, {first}]"
                yield source.edit("exchange the edges in the mirror", source.replace(pair, new))
