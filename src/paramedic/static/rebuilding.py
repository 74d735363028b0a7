"""Where layers are put into a model that exists already: `net.head = …`, `self.stages.append(…)` outside __init__."""

from __future__ import annotations

import ast
from collections.abc import Collection

from paramedic.static.calls import calls_of
from paramedic.static.history import Link
from paramedic.static.program import Program, called, own_nodes

_ADDS = ("append", "extend", "insert", "add_module", "register_module")


def rebuilt_at(program: Program, attributes: Collection[str]) -> Link | None:
    """The line that calls the function which does it, or the line itself where none does."""
    for scope in program.scopes():
        if scope.name == "__init__":
            continue
        for node in own_nodes(scope.body):
            if _puts(node, attributes):
                line: int = node.lineno  # type: ignore[attr-defined]
                calls = calls_of(program, scope) if scope.function is not None else []
                return next(iter(calls), Link(line, ast.Constant(None), scope, "called"))
    return None


def _puts(node: ast.AST, attributes: Collection[str]) -> bool:
    if isinstance(node, ast.Assign):
        targets = [part for target in node.targets for part in getattr(target, "elts", [target])]
        return any(isinstance(target, ast.Attribute) and target.attr in attributes for target in targets)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and called(node) in _ADDS:
        return isinstance(node.func.value, ast.Attribute) and node.func.value.attr in attributes
    return False
