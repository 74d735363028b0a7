"""Statements without effect: a comparison for an assignment, a generator nobody asks, a step that never comes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paramedic.static.blocks import around
from paramedic.static.history import Link
from paramedic.static.program import Program, called, own_nodes
from paramedic.static.signs import name_of, names_any


def idle_switches(code: Program, attribute: str) -> Iterator[tuple[Link, bool]]:
    """`p.attribute == True` as a statement, or a switch inside of a generator or map() that is never run; and which
    value it was meant to set."""
    for scope in code.scopes():
        for node in own_nodes(scope.body):
            if isinstance(node, ast.Expr) and (value := _meant(node.value, attribute)) is not None:
                yield Link(node.lineno, node.value, scope, "idle"), value


def _meant(value: ast.expr, attribute: str) -> bool | None:
    if isinstance(value, ast.Compare):
        given = value.comparators[0]
        compared = isinstance(value.left, ast.Attribute) and value.left.attr == attribute
        return given.value if compared and isinstance(given, ast.Constant) and isinstance(given.value, bool) else None
    if isinstance(value, ast.GeneratorExp) or (isinstance(value, ast.Call) and called(value) in ("map", "filter")):
        for call in (node for node in ast.walk(value) if isinstance(node, ast.Call)):
            if name_of(call.func) == f"{attribute}_":
                given = next(iter(call.args), ast.Constant(True))
                return bool(given.value) if isinstance(given, ast.Constant) else None
    return None


def step_at(code: Program) -> tuple[Link | None, bool]:
    """The step() beside a backward(), or the condition around it; and whether it stands within `accumulate(…)`."""
    found = []
    for scope in code.scopes():
        nodes = list(own_nodes(scope.body))
        if not any(isinstance(node, ast.Call) and called(node) == "backward" for node in nodes):
            continue
        for node in nodes:
            if isinstance(node, ast.Expr) and name_of(getattr(node.value, "func", node.value)) == "step":
                found.append((scope, node))
    if len(found) != 1:
        return None, False
    scope, node = found[0]
    blocks = around(scope, node.lineno)
    conditions = [block for block in blocks if isinstance(block, ast.If)]
    shared = any(
        names_any(item.context_expr, ("accumulate",)) for b in blocks if isinstance(b, ast.With) for item in b.items
    )
    line = conditions[-1].lineno if conditions else node.lineno
    return Link(line, node.value, scope, "called"), shared and bool(conditions)
