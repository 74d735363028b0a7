"""PM101, PM102, PM103, PM107: arguments stay where a function and its derivative are finite."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit, Splice
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Node, Source
from paramedic.findings import Finding

CODES = ("PM101", "PM102", "PM103", "PM107")
LIMITS = {
    "log": "min=1e-8", "sqrt": "min=1e-12", "rsqrt": "min=1e-12", "pow": "min=1e-8", "log2": "min=1e-8",
    "log10": "min=1e-8", "acos": "-1 + 1e-6, 1 - 1e-6", "asin": "-1 + 1e-6, 1 - 1e-6", "exp": "max=20",
}  # fmt: skip


@remedy(*CODES)
def log_softmax(finding: Finding, source: Source) -> Iterator[Edit]:
    """The logarithm of a softmax is computed in one stable step."""
    for call in source.calls_at(finding.where.line, "log"):
        inner = source.applied_to(call)
        made = source.assignments(inner.value, call)[-1:] if isinstance(inner, cst.Name) else [inner]
        for softmax in [found for node in made for found in source.calls("softmax", node)]:
            before, dot, _ = source.code(softmax.func).rpartition(".")
            new = f"{before}{dot}log_{source.code(softmax)[len(before + dot) :]}"
            yield source.edit("use log_softmax", source.replace(call, new))


@remedy(*CODES)
def keep_inside(finding: Finding, source: Source) -> Iterator[Edit]:
    """Clamp the argument of every call of the operation on the line."""
    operation = next((str(fact.value) for fact in finding.evidence if fact.name == "operation"), "")
    statement = source.statement_at(finding.where.line)
    if statement is None:
        return
    names = (operation,) if operation in LIMITS else tuple(LIMITS)
    calls = [call for call in source.calls_at(finding.where.line, names) if not _is_whole_power(source, call)]
    splices = [_clamped(source, source.applied_to(call), LIMITS[source.called(call)]) for call in calls]
    powers = [node for node in source.all(cst.BinaryOperation, statement) if isinstance(node.operator, cst.Power)]
    if operation in ("pow", "") and not splices:
        splices = [_clamped(source, node.left, LIMITS["pow"]) for node in powers if _is_root(source, node.right)]
    kept = [splice for splice in splices if splice is not None]
    if kept:
        yield source.edit(f"keep the argument of {operation or source.called(calls[0])} inside its domain", *kept)
    elif operation in ("div", ""):
        yield from _denominators(source, statement)


@remedy("PM102", "PM103")
def spread_of_one(finding: Finding, source: Source) -> Iterator[Edit]:
    """The spread of a single row is 0, not 0/0."""
    for call in source.calls_at(finding.where.line, ("std", "var")):
        if source.argument(call, None, "unbiased") is None and source.argument(call, None, "correction") is None:
            yield source.edit("divide by the number of rows", source.add_argument(call, "unbiased=False"))


def _denominators(source: Source, statement: Node) -> Iterator[Edit]:
    for node in source.all(cst.BinaryOperation, statement):
        if isinstance(node.operator, cst.Divide) and not isinstance(node.right, cst.Integer | cst.Float):
            splice = _clamped(source, node.right, "min=1e-6")
            if splice is not None:
                yield source.edit("keep the denominator above 0", splice)


def _clamped(source: Source, node: Node, limits: str) -> Splice | None:
    if isinstance(node, cst.Call) and source.called(node) == "clamp" and limits in source.code(node):
        return None
    if isinstance(node, cst.Call) and source.called(node) == "clamp" and "," in limits:
        return source.replace(node, f"{source.operand(source.applied_to(node))}.clamp({limits})")
    if node.lpar:  # its brackets stay around it
        end = source.span(node)[1]
        return Splice(end + 1, end + 1, f".clamp({limits})") if source.text[end : end + 1] == ")" else None
    return source.replace(node, f"{source.operand(node)}.clamp({limits})")


def _is_whole_power(source: Source, call: Node) -> bool:
    return source.called(call) == "pow" and not _is_root(source, call.args[-1].value)


def _is_root(source: Source, exponent: Node) -> bool:
    text = source.code(exponent)
    return not (isinstance(exponent, cst.Integer) or text.lstrip("-").isdigit())
