"""Statements that compute something and throw it away: a comparison for an assignment, a generator nobody asks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paramedic.static.history import Link
from paramedic.static.program import Program, called, own_nodes
from paramedic.static.signs import name_of


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
