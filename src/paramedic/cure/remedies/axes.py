"""PM413, PM414, PM415, PM417: the right axis, the right side of a mask."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Node, Source
from paramedic.findings import Finding

SOFTMAX = ("softmax", "log_softmax", "Softmax", "LogSoftmax")
MASKS = ("key_padding_mask", "src_key_padding_mask", "tgt_key_padding_mask", "memory_key_padding_mask", "attn_mask")


@remedy("PM414", compare="metrics")
def softmax_axis(finding: Finding, source: Source) -> Iterator[Edit]:
    """The axis that the finding names; else the last one."""
    named = re.search(r"dim=(-?\d+)", finding.remedy)
    for call in source.calls_at(finding.where.line, SOFTMAX):
        place = 0 if source.is_method(call) or source.called(call)[0].isupper() else 1
        given = source.argument(call, place, "dim")
        if given is not None:
            new = named[1] if named else "-1"
            yield source.edit(f"softmax over dim={new}", source.replace(given, new))
        else:
            yield source.edit("softmax over the last axis", source.add_argument(call, "dim=-1"))


@remedy("PM413", compare="metrics")
def batch_first(finding: Finding, source: Source) -> Iterator[Edit]:
    """`batch_first=True` where the layer is built."""
    if "batch_first" in finding.remedy:
        for call in source.all(cst.Call, source.statement_at(finding.where.line)) if finding.where.line else []:
            if source.called(call)[:1].isupper() and source.argument(call, None, "batch_first") is None:
                yield source.edit("take the first axis for the batch", source.add_argument(call, "batch_first=True"))
    for call in source.calls_at(finding.where.line, "normalize"):
        given = source.argument(call, None, "dim")
        if given is not None:
            yield source.edit("normalise over the features", source.replace(given, "-1"))


@remedy("PM415", compare="metrics")
def mask_the_padding(finding: Finding, source: Source) -> Iterator[Edit]:
    """A mask that leaves out what it should keep is inverted; one of numbers is made one of booleans."""
    statement = source.statement_at(finding.where.line)
    if statement is None:
        return
    for call in source.all(cst.Call, statement):
        for given in call.args:
            if given.keyword and given.keyword.value in MASKS:
                if "bool" in finding.remedy:
                    new = f"{source.operand(given.value)}.bool()"
                    yield source.edit("pass a mask of booleans", source.replace(given.value, new))
                elif "invert" in finding.remedy:
                    yield _inverted(source, given.value)
    for call in source.calls_at(finding.where.line, "ones_like"):
        padding = re.search(r"padding \(id (-?\d+)\)", finding.what)
        if padding and call.args:
            new = f"({source.code(call.args[0].value)} != {padding[1]}).long()"
            yield source.edit("make the mask from the ids", source.replace(call, new))
    here = source.calls_at(finding.where.line, "masked_fill")
    for call in here or source.calls("masked_fill", source.scope(statement)):
        if "invert" in finding.remedy and call.args:
            yield _inverted(source, call.args[0].value)
    for node in source.all(cst.Comparison, statement) if "invert" in finding.remedy else []:
        operator = node.comparisons[0].operator
        if isinstance(operator, cst.Equal | cst.NotEqual) and len(node.comparisons) == 1:
            left, right = source.code(node.left), source.code(node.comparisons[0].comparator)
            new = f"{left} {'!=' if isinstance(operator, cst.Equal) else '=='} {right}"
            yield source.edit("mask what is padding", source.replace(node, new))
    for node in source.all(cst.Name, statement) if "opposite" in finding.remedy else []:
        if "mask" in node.value and isinstance(source.parent(node), cst.Attribute):
            yield source.edit("multiply by the opposite of the mask", source.replace(node, f"(~{node.value})"))


@remedy("PM417", compare="nothing")
def hide_the_future(finding: Finding, source: Source) -> Iterator[Edit]:
    """A causal mask that hides all later positions."""
    for call in source.calls_at(finding.where.line, "scaled_dot_product_attention"):
        given = source.argument(call, 3, "attn_mask")
        if given is None and source.argument(call, None, "is_causal") is None:
            yield source.edit("attend to earlier positions only", source.add_argument(call, "is_causal=True"))
    for call in source.calls_at(finding.where.line, "triu"):
        diagonal = source.argument(call, 1, "diagonal")
        if diagonal is not None and source.code(diagonal) != "1":
            yield source.edit("hide the very next position as well", source.replace(diagonal, "1"))
        elif diagonal is None:
            name = re.sub(r"triu$", "tril", source.code(call.func))
            yield source.edit("turn the triangle round", source.replace(call.func, name))


def _inverted(source: Source, value: Node) -> Edit:
    text = source.code(value)
    inverted = text[1:] if text.startswith("~") else f"~{source.operand(value)}"
    return source.edit("invert the mask", source.replace(value, inverted))
