"""PM410, PM406: a copy where a copy is meant, a layer of its own where one is meant."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Node, Source
from paramedic.findings import Finding


@remedy("PM410", compare="nothing")
def copy_the_state(finding: Finding, source: Source) -> Iterator[Edit]:
    """The best state is kept as a copy that training does not overwrite."""
    for call in source.calls_at(finding.where.line, "state_dict"):
        whole = call
        above = source.parent(source.parent(call))
        if isinstance(above, cst.Call) and source.called(above) == "copy":
            whole = above
        copied = f"{{name: value.clone() for name, value in {source.code(call)}.items()}}"
        yield source.edit("keep a copy of the weights", source.replace(whole, copied))


@remedy("PM406")
def layers_of_their_own(finding: Finding, source: Source) -> Iterator[Edit]:
    """One layer repeated becomes as many layers."""
    statement = source.statement_at(finding.where.line)
    if statement is None:
        return
    for node in source.all(cst.BinaryOperation, statement):
        if isinstance(node.operator, cst.Multiply) and isinstance(node.left, cst.List) and len(node.left.elements) == 1:
            made = source.code(node.left.elements[0].value)
            new = f"[{made} for _ in range({source.code(node.right)})]"
            yield source.edit("make a layer for each place", source.replace(node, new))
    for node in source.all((cst.ListComp, cst.GeneratorExp), statement):
        if isinstance(node.elt, cst.Name | cst.Attribute) and source.code(node.elt) != source.code(node.for_in.target):
            splices = [source.replace(node.elt, f"copy.deepcopy({source.code(node.elt)})")]
            if "copy" not in imported(source):
                splices.append(source.before(first_import(source), "import copy"))
            yield source.edit("copy the layer for each place", *splices)


def imported(source: Source) -> set[str]:
    return {source.dotted(alias.name) for node in source.all(cst.Import) for alias in node.names}


def first_import(source: Source) -> Node:
    """The statement that a plain import may stand before: not one of `__future__`."""
    for statement in source.module.body:
        found = source.all((cst.Import, cst.ImportFrom), statement)
        if found and "__future__" not in source.code(statement):
            return statement
    return source.module.body[0]
