"""Whether a causal mask is the right triangle, as far as its line and its use show."""

from __future__ import annotations

import ast

from paramedic.static.program import Scope, called, calls_at
from paramedic.static.signs import name_of, names_any


def is_causal(scope: Scope, line: int) -> bool:
    """`triu(…, diagonal=1)` marks what to leave out; `tril(…)` what to keep, and is turned around where it is used."""
    for call in calls_at(scope, line):
        if called(call) in ("triu", "tril"):
            given = [keyword.value for keyword in call.keywords if keyword.arg == "diagonal"] or call.args[1:2]
            diagonal = ast.unparse(given[0]) if given else "0"
            name = _kept_as(scope, line)
            if called(call) == "triu":
                return diagonal == "1" and not _is_inverted(scope, name)
            return diagonal == "0" and _is_inverted(scope, name)
    return False


def _kept_as(scope: Scope, line: int) -> str:
    """The name of the variable, attribute or buffer."""
    for call in calls_at(scope, line):
        if called(call) == "register_buffer" and call.args and isinstance(call.args[0], ast.Constant):
            return str(call.args[0].value)
    for node in ast.walk(scope.tree):
        if isinstance(node, ast.Assign) and node.lineno <= line <= (node.end_lineno or line):
            return name_of(node.targets[0])
    return ""


def _is_inverted(scope: Scope, name: str) -> bool:
    return any(_inverts(node) and names_any(node, {name}) for node in ast.walk(scope.owner or scope.body))


def _inverts(node: ast.AST) -> bool:
    """`~mask`, `not mask`, `mask == 0`, `mask.logical_not()`."""
    if isinstance(node, ast.Compare):
        return ast.unparse(node.comparators[0]) in ("0", "False")
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Invert | ast.Not)
    return isinstance(node, ast.Call) and called(node) == "logical_not"
