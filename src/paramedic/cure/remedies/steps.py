"""PM610: the loss reaches who calls backward()."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Source
from paramedic.findings import Finding


@remedy("PM610", compare="nothing")
def return_the_loss(finding: Finding, source: Source) -> Iterator[Edit]:
    """A function that hands nothing back hands back its loss."""
    statement = source.statement_at(finding.where.line)
    function = statement if isinstance(statement, cst.FunctionDef) else source.scope(statement) if statement else None
    if not isinstance(function, cst.FunctionDef) or source.all(cst.Return, function):
        return
    names = [name for line in source.all(cst.SimpleStatementLine, function) for name in source.assigned_names(line)]
    for name in reversed([name for name in dict.fromkeys(names) if "loss" in name.lower()]):
        last = function.body.body[-1]
        line = source.after(last, f"return {name}", indent=source.indent_of(function.body.body[0]))
        yield source.edit(f"return {name}", line)


@remedy("PM610")
def backward_before_step(finding: Finding, source: Source) -> Iterator[Edit]:
    """`loss.backward()` in front of a step that has no gradients."""
    for call in source.calls_at(finding.where.line, "step"):
        statement = source.statement_of(call)
        made = [line for line in source.all(cst.SimpleStatementLine, source.scope(statement))
                if source.span(line)[0] < source.span(statement)[0]]  # fmt: skip
        losses = [name for line in made for name in source.assigned_names(line) if "loss" in name.lower()]
        if losses and not source.calls("backward", source.scope(statement)) and source.indent_of(statement) is not None:
            yield source.edit("call backward() before the step", source.before(statement, f"{losses[-1]}.backward()"))
