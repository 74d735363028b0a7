"""PM509, PM512, PM516: what counts in the loss, which values it can reach, and which way it is pushed."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit, Splice
from paramedic.cure.remedies.losses import compared
from paramedic.cure.remedies.softmax import without_layer
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Source
from paramedic.cure.values import set_to
from paramedic.findings import Finding

ACTIVATIONS = ("sigmoid", "tanh", "relu", "softmax", "softplus")
LAYERS = ("Sigmoid", "Tanh", "ReLU", "Softmax", "Softplus")
LOSSES = ("CrossEntropyLoss", "NLLLoss", "cross_entropy", "nll_loss")


@remedy("PM509", compare="nothing")
def ignore_padding(finding: Finding, source: Source) -> Iterator[Edit]:
    """The loss leaves out the label that stands for "no label"."""
    named = re.search(r"ignore_index=(-?\d+)", finding.remedy)
    for call in source.calls_at(finding.where.line, LOSSES):
        given = source.argument(call, None, "ignore_index")
        if named is None:
            continue
        if given is not None:
            yield from set_to(source, given, f"leave out the label {named[1]}", named[1])
        else:
            argument = source.add_argument(call, f"ignore_index={named[1]}")
            yield source.edit(f"leave out the label {named[1]}", argument)


@remedy("PM512", compare="answers")
def unbounded_output(finding: Finding, source: Source) -> Iterator[Edit]:
    """The output is not squeezed into a range that the targets leave."""
    line = finding.where.line
    for call in source.calls_at(line, ACTIVATIONS):
        yield source.edit(f"without {source.called(call)} at the output", source.unwrap(call))
    for layer in reversed(source.calls_at(line, LAYERS)):
        yield source.edit(f"without nn.{source.called(layer)} at the output", without_layer(source, layer))


@remedy("PM512", compare="metrics")
def targets_from_zero(finding: Finding, source: Source) -> Iterator[Edit]:
    """Labels of -1 and 1 become 0 and 1, where the loss is made for probabilities."""
    made = source.calls(("BCELoss", "BCEWithLogitsLoss", "binary_cross_entropy", "binary_cross_entropy_with_logits"))
    for target in compared(source, finding.where.line, 1) if made else []:
        if "-1" in f"{finding.what} {finding.remedy}" and not isinstance(target, cst.BinaryOperation):
            new = f"({source.code(target)} + 1) / 2"
            yield source.edit("give the loss 0 and 1", source.replace(target, new))


@remedy("PM516", compare="nothing")
def other_way(finding: Finding, source: Source) -> Iterator[Edit]:
    """The sign that the objective should have."""
    statement = source.statement_at(finding.where.line)
    if not isinstance(statement, cst.SimpleStatementLine):
        return
    for call in source.calls_at(finding.where.line, ("min", "max", "minimum", "maximum")):
        if finding.what.startswith("torch.") and source.code(call).count("-") >= 2:
            other = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}[source.called(call)]
            yield source.edit(f"{other} of the negated values", source.replace(call.func.attr, other))
    if "entropy" in finding.what:
        for node in source.all(cst.BinaryOperation, statement):
            if isinstance(node.operator, cst.Add) and source.calls("entropy", node.right):
                start = source.text.index("+", source.span(node.left)[1])
                yield source.edit("reward the entropy", Splice(start, start + 1, "-"))
    if "without the minus sign" in finding.remedy:
        for unary in source.all(cst.UnaryOperation, statement):
            if isinstance(unary.operator, cst.Minus) and isinstance(unary.expression, cst.Call):
                yield source.edit("without the minus sign", source.replace(unary, source.code(unary.expression)))
    overlap = re.match(r"loss = 1 - (\w+)", finding.remedy)
    for node in source.all((cst.Return, cst.Assign), statement) if overlap else []:
        if node.value is not None:
            yield source.edit(
                "make what is missing smaller", source.replace(node.value, f"1 - {source.operand(node.value)}")
            )
    swap = re.search(r"swap them: relu\(margin \+ (\w+) - (\w+)\)", finding.remedy)
    if swap:
        names = [n for n in source.all(cst.Name, statement) if n.value in (swap[1], swap[2])]
        partner = {swap[1]: swap[2], swap[2]: swap[1]}
        yield source.edit("swap the two distances", *(source.replace(n, partner[n.value]) for n in names))
