"""PM304, PM513: labels in the range and at the place that the loss expects."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit, Splice
from paramedic.cure.origins import Origin, origins
from paramedic.cure.remedies.losses import compared, loss_calls
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Node, Source
from paramedic.findings import Finding

MAKERS = ("int", "long", "tensor", "as_tensor", "from_numpy", "LongTensor", "astype", "array")


@remedy("PM304", compare="metrics")
def count_from_zero(finding: Finding, source: Source) -> Iterator[Edit]:
    """Labels are counted from 0 where they are read; so what else reads them agrees."""
    if "subtract 1" not in finding.remedy:
        return
    for target in compared(source, finding.where.line, 1):
        made = [origin for origin in origins(source, target) if origin.kind != "returned"]
        for origin in [origin for origin in made if _makes(origin)]:
            yield _with(origin.source, origin.node, "{} - 1", "count labels from 0")
        if not _one_less(source, target):
            yield _with(source, target, "{} - 1", "count labels from 0 in the loss")


@remedy("PM304", compare="metrics")
def labels_of_both_signs(finding: Finding, source: Source) -> Iterator[Edit]:
    """0 and 1 become -1 and 1: where the loss gets them, or where it multiplies them with the score."""
    if "2 * y - 1" not in finding.remedy:
        return
    for call in loss_calls(source, finding.where.line):
        if not call.args[-1].keyword and not call.args[-1].star:
            yield _with(source, call.args[-1].value, "2 * {} - 1", "give the loss -1 and 1")
    statement = source.statement_at(finding.where.line)
    for node in source.all(cst.BinaryOperation, statement) if statement is not None else []:
        if isinstance(node.operator, cst.Multiply):
            for side in (node.left, node.right):
                if isinstance(side, cst.Name | cst.Attribute):
                    new = f"(2 * {source.code(side)} - 1)"
                    yield source.edit(f"{source.code(side)} as -1 and 1", source.replace(side, new))


@remedy("PM304", compare="metrics")
def another_blank(finding: Finding, source: Source) -> Iterator[Edit]:
    """Where the labels hold what the loss takes for its blank, the last output is the blank."""
    if "blank" not in finding.remedy:
        return
    for scores in compared(source, finding.where.line, 0):
        for call in source.calls(("CTCLoss", "ctc_loss")):
            if source.argument(call, None, "blank") is None:
                size = f"{source.code(scores)}.shape[-1] - 1" if isinstance(scores, cst.Name) else _width(source)
                if size:
                    argument = source.add_argument(call, f"blank={size}")
                    yield source.edit("the last output is the blank", argument)


def _width(source: Source) -> str:
    """The number of classes without the blank, as the layer that makes `classes + 1` outputs spells it."""
    for call in source.calls(("Linear", "Conv1d")):
        size = source.argument(call, 1, "out_features")
        added = isinstance(size, cst.BinaryOperation) and isinstance(size.operator, cst.Add)
        if added and size is not None and source.code(size.right) == "1":
            return source.code(size.left)
    return ""


@remedy("PM513", compare="nothing")
def next_step(finding: Finding, source: Source) -> Iterator[Edit]:
    """The target is the step after the window: an index that ends in `- 1` loses it."""
    if "step after the window" not in finding.remedy:
        return
    for target in compared(source, finding.where.line, 1):
        for origin in origins(source, target):
            for index in _last_indices(origin):
                yield origin.source.edit(
                    "take the step after the window", origin.source.replace(index, origin.source.code(index.left))
                )


@remedy("PM513", compare="nothing")
def shift_once(finding: Finding, source: Source) -> Iterator[Edit]:
    """Labels that are shifted on the way are not shifted again."""
    if "two positions later" not in finding.what:
        return
    statement = source.statement_at(finding.where.line)
    if statement is None:
        return
    pieces = [splice for node in source.all(cst.Subscript, statement) for splice in _unshifted(source, node)]
    if pieces:
        yield source.edit("shift the labels in one place only", *pieces)
    made = [origin for target in compared(source, finding.where.line, 1) for origin in origins(source, target)]
    statements = [(origin.source, origin.source.statement_of(origin.node)) for origin in made]
    named = [assign for assign in source.all(cst.Assign) if "label" in source.code(assign.targets[0].target).lower()]
    for home, where in [*statements, *((source, source.statement_of(assign)) for assign in named)]:
        pieces = [splice for node in home.all(cst.Subscript, where) for splice in _unshifted(home, node)]
        if pieces and isinstance(where, cst.SimpleStatementLine):
            yield home.edit("do not shift the labels where they are made", *pieces)


@remedy("PM513", compare="nothing")
def shift_at_all(finding: Finding, source: Source) -> Iterator[Edit]:
    """The model gets all tokens but the last, and the loss all but the first."""
    if "not shifted" not in finding.what:
        return
    for prediction, target in zip(
        compared(source, finding.where.line, 0), compared(source, finding.where.line, 1), strict=False
    ):
        yield from _input_without_last(source, prediction, target)
        ends = _core(source, prediction), _core(source, target)
        shifted = [f"{source.operand(ends[0])}[:, :-1]", f"{source.operand(ends[1])}[:, 1:]"]
        splices = [source.replace(end, new) for end, new in zip(ends, shifted, strict=True)]
        splices += [
            source.replace(call.func.attr, "reshape")  # what is cut out can't be viewed
            for side in (prediction, target)
            for call in source.calls("view", side)
            if isinstance(call.func, cst.Attribute)
        ]
        yield source.edit("compare each prediction with the next token", *splices)


@remedy("PM513", compare="nothing")
def masked_places_count(finding: Finding, source: Source) -> Iterator[Edit]:
    """`labels[~masked] = -100`."""
    if "invert the selection" not in finding.remedy:
        return
    for target in compared(source, finding.where.line, 1):
        homes = {id(origin.source): origin.source for origin in origins(source, target)} | {id(source): source}
        for home in homes.values():
            for assign in home.all(cst.Assign):
                place = assign.targets[0].target
                if isinstance(place, cst.Subscript) and home.code(assign.value) == "-100":
                    chosen = place.slice[0].slice.value if hasattr(place.slice[0].slice, "value") else None
                    if chosen is not None:
                        text = home.code(chosen)
                        new = text[1:] if text.startswith("~") else f"~{home.operand(chosen)}"
                        yield home.edit("leave out what is not masked", home.replace(chosen, new))


def _makes(origin: Origin) -> bool:
    node, source = origin.node, origin.source
    return isinstance(node, cst.Call) and source.called(node) in MAKERS


def _with(source: Source, node: Node, form: str, title: str) -> Edit:
    return source.edit(title, source.replace(node, form.format(source.operand(node))))


def _last_indices(origin: Origin) -> list[Node]:
    """`i + size - 1` of `series[i + size - 1]`, in the statement that makes the value."""
    source = origin.source
    found = []
    for node in source.all(cst.Index, source.statement_of(origin.node)):
        value = node.value
        if _one_less(source, value) and isinstance(value.left, cst.BinaryOperation):
            found.append(value)
    return found


def _unshifted(source: Source, node: Node) -> list[Splice]:
    """`ids[1:]` and `logits[:, :-1]` whole; the room of one less, as in `labels[: len(row) - 1]`, in full."""
    last = node.slice[-1].slice
    if not isinstance(last, cst.Slice) or last.step is not None:
        return []
    lower = source.code(last.lower) if last.lower is not None else ""
    upper = source.code(last.upper) if last.upper is not None else ""
    if (lower, upper) in (("1", ""), ("", "-1")):
        rest = [part.slice for part in node.slice[:-1]]
        whole = all(isinstance(part, cst.Slice) and part.lower is None and part.upper is None for part in rest)
        return [source.replace(node, source.code(node.value))] if whole else []
    if not lower and _one_less(source, last.upper):
        return [source.replace(last.upper, source.code(last.upper.left))]
    return []


def _one_less(source: Source, node: Node) -> bool:
    """`x - 1`."""
    less = isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Subtract)
    return less and source.code(node.right) == "1"


def _input_without_last(source: Source, prediction: Node, target: Node) -> Iterator[Edit]:
    """A decoder that is given the very slice that it should predict gets the tokens before."""
    core = _core(source, target)
    if not isinstance(core, cst.Subscript) or not re.search(r",\s*1:\]$", source.code(core)):
        return
    made = [(origin.source, origin.node) for origin in origins(source, _core(source, prediction))]
    for home, node in [(source, prediction), *made]:
        for argument in [given for call in home.all(cst.Call, node) for given in call.args]:
            if home.code(argument.value) == source.code(core):
                new = f"{source.code(core.value)}[:, :-1]"
                yield home.edit("give the model the tokens before", home.replace(argument.value, new))


def _core(source: Source, node: Node) -> Node:
    """`logits` of `logits.view(-1, V)` and of `logits.transpose(1, 2)`."""
    while isinstance(node, cst.Call) and source.is_method(node):
        if source.called(node) not in ("view", "reshape", "flatten", "transpose", "permute", "contiguous", "long"):
            break
        node = source.owner(node)
    return node
