"""PM502, PM503: a loss that expects logits gets logits."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit, Splice
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Node, Source
from paramedic.findings import Finding

CALLS = ("softmax", "sigmoid", "softmax_", "sigmoid_", "activation", "act")
LAYERS = ("Softmax", "Sigmoid", "Softmax2d")


@remedy("PM502", "PM503", compare="answers")
def pass_logits(finding: Finding, source: Source) -> Iterator[Edit]:
    """The loss gets what the probabilities are made of; where nothing else needs them, they are not made."""
    line = finding.where.line
    for call in source.calls_at(line, CALLS):
        yield from _logits_for_the_loss(finding, source, call)
        yield source.edit(f"pass on the values without {source.called(call)}", source.unwrap(call))
    for layer in source.calls_at(line, LAYERS):
        if line is not None and source.covers(layer, line):
            yield source.edit(f"leave out nn.{source.called(layer)}", without_layer(source, layer))


@remedy("PM503", compare="answers")
def loss_of_probabilities(finding: Finding, source: Source) -> Iterator[Edit]:
    """Where other code wants the probabilities, the loss takes them instead."""
    for call in source.calls("BCEWithLogitsLoss"):
        if not call.args:
            yield source.edit(
                "use the loss for probabilities", source.replace(call.func, _renamed(source, call, "BCELoss"))
            )
    for call in source.calls("binary_cross_entropy_with_logits"):
        if len(call.args) == 2:
            name = _renamed(source, call, "binary_cross_entropy")
            yield source.edit("use the loss for probabilities", source.replace(call.func, name))


def _renamed(source: Source, call: Node, name: str) -> str:
    before, dot, _ = source.code(call.func).rpartition(".")
    return f"{before}{dot}{name}"


def _logits_for_the_loss(finding: Finding, source: Source, call: Node) -> Iterator[Edit]:
    """`probs = softmax(logits)` is kept, and the loss in the same function gets `logits` in place of `probs`."""
    statement = source.statement_of(call)
    inner = source.applied_to(call)
    names = source.assigned_names(statement) if isinstance(statement, cst.SimpleStatementLine) else []
    found = re.search(r":(\d+)\D*$", finding.remedy)
    loss = source.statement_at(int(found[1])) if found else None
    if len(names) != 1 or loss is None or not isinstance(inner, cst.Name | cst.Attribute) or loss is statement:
        return
    if source.scope(loss) is not source.scope(call) or source.dotted(inner) == names[0]:
        return
    given = [arg.value for outer in source.all(cst.Call, loss) for arg in outer.args[:1]]
    for value in given:
        if source.dotted(value) == names[0]:
            yield source.edit(f"give the loss {source.code(inner)}", source.replace(value, source.code(inner)))


def without_layer(source: Source, layer: Node) -> Splice:
    """An element of a Sequential is taken out with its comma; a layer with a name of its own becomes an Identity."""
    own_line = source.own_line(layer)
    argument = source.parent(layer)
    outer = source.parent(argument) if isinstance(argument, cst.Arg) else None
    if isinstance(outer, cst.Call) and len(outer.args) > 1:
        place = next(i for i, given in enumerate(outer.args) if given is argument)
        if own_line is not None:
            return own_line
        if place > 0:
            return Splice(source.span(outer.args[place - 1].value)[1], source.span(layer)[1], "")
    return source.replace(layer, f"{source.code(layer.func).rpartition('.')[0]}.Identity()".lstrip("."))
