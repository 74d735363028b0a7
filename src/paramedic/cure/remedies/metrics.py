"""PM616: a metric that counts what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Node, Source
from paramedic.findings import Finding


@remedy("PM616", compare="nothing")
def argmax_over_classes(finding: Finding, source: Source) -> Iterator[Edit]:
    """argmax over the axis of the classes, wherever the compared values were made."""
    if "argmax" not in finding.remedy:
        return
    for call in _made_of(source, finding, "argmax"):
        place = 0 if source.is_method(call) else 1
        given = source.argument(call, place, "dim")
        splice = source.replace(given, "1") if given is not None else source.add_argument(call, "dim=1")
        yield source.edit("argmax over the classes", splice)


@remedy("PM616", compare="nothing")
def class_not_score(finding: Finding, source: Source) -> Iterator[Edit]:
    """The second value of torch.max is the class."""
    if "take the second" not in finding.remedy:
        return
    for call in _made_of(source, finding, "max"):
        statement = source.statement_of(call)
        for assign in source.all(cst.Assign, statement):
            target = assign.targets[0].target
            if isinstance(target, cst.Tuple) and len(target.elements) == 2:
                first, second = (source.code(element.value) for element in target.elements)
                if second == "_":
                    yield source.edit("take the class, not its score", source.replace(target, f"_, {first}"))


@remedy("PM616", compare="nothing")
def probability_at_one_half(finding: Finding, source: Source) -> Iterator[Edit]:
    """Logits are compared with 0."""
    if "compare logits with 0" not in finding.remedy:
        return
    statement = source.statement_at(finding.where.line)
    for node in source.all(cst.Comparison, statement) if statement is not None else []:
        limit = node.comparisons[0].comparator
        if source.code(limit) in ("0.5", ".5"):
            yield source.edit("compare logits with 0", source.replace(limit, "0"))


@remedy("PM616", compare="nothing")
def one_with_one(finding: Finding, source: Source) -> Iterator[Edit]:
    """Predictions and labels of one shape."""
    if "view_as" not in finding.remedy:
        return
    shapes = re.search(r"predictions \((.*?)\) are compared with labels \((.*?)\)", finding.what)
    statement = source.statement_at(finding.where.line)
    for node in source.all(cst.Comparison, statement) if statement is not None else []:
        if not isinstance(node.comparisons[0].operator, cst.Equal):
            continue
        left, right = node.left, node.comparisons[0].comparator
        wide = shapes is None or shapes[1].count(",") >= shapes[2].count(",")
        for side in (left, right) if wide else (right, left):
            new = f"{source.operand(side)}.squeeze(-1)"
            yield source.edit(f"drop the axis of length 1 of {source.code(side)}", source.replace(side, new))


@remedy("PM616", compare="nothing")
def divide_by_samples(finding: Finding, source: Source) -> Iterator[Edit]:
    """Right answers are divided by samples, not by batches."""
    if "divide by the number of labels" not in finding.remedy:
        return
    statement = source.statement_at(finding.where.line)
    for call in source.calls("len", statement) if statement is not None else []:
        value = call.args[0].value
        if isinstance(value, cst.Attribute) and value.attr.value == "dataset":
            yield source.edit("divide by what the sampler gives", source.replace(value.attr, "sampler"))
        elif isinstance(value, cst.Name | cst.Attribute):
            yield source.edit("divide by the number of samples", source.replace(value, f"{source.code(value)}.dataset"))


@remedy("PM616", compare="nothing")
def count_anew(finding: Finding, source: Source) -> Iterator[Edit]:
    """Counters start at 0 at every pass."""
    counter = re.match(r"set (\w+) to 0 inside the epoch loop", finding.remedy)
    statement = source.statement_at(finding.where.line)
    if counter is None or not isinstance(statement, cst.SimpleStatementLine) or source.indent_of(statement) is None:
        return
    block, place = source.siblings(statement)
    loop = next((other for other in block[place + 1 :] if isinstance(other, cst.For | cst.While)), None)
    if loop is not None and isinstance(loop.body, cst.IndentedBlock):
        first = loop.body.body[0]
        moved = source.move(statement, source.before(first, ""), indent=source.indent_of(first) or "")
        yield source.edit("start counting anew at every pass", *moved)


def _made_of(source: Source, finding: Finding, name: str) -> list[Node]:
    """Calls on the line, or in the assignments of the names that are compared there."""
    statement = source.statement_at(finding.where.line)
    if statement is None:
        return []
    found = list(source.calls_at(finding.where.line, name))
    for comparison in source.all(cst.Comparison, statement):
        for side in (comparison.left, comparison.comparisons[0].comparator):
            if isinstance(side, cst.Name):
                found += [
                    call for made in source.assignments(side.value, statement)[-1:] for call in source.calls(name, made)
                ]
    return found
