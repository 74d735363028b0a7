"""Where a program walks over a model's parameters, which do not include its buffers, to copy or average them."""

from __future__ import annotations

import ast

from paramedic.static.history import Link
from paramedic.static.program import Program, own_nodes
from paramedic.static.signs import names_any


def collected_at(program: Program) -> Link | None:
    """The only loop over parameters() that keeps them under their names or writes them into others."""
    found = []
    for scope in program.scopes():
        for node in own_nodes(scope.body):
            if isinstance(node, ast.For) and names_any(node.iter, ("parameters", "named_parameters")) and _keeps(node):
                found.append(Link(node.lineno, node.iter, scope, "called"))
    return found[0] if len(found) == 1 else None


def _keeps(loop: ast.For) -> bool:
    """`average[name] = …`, `mine.mul_(…).add_(…)`, `mine.data.copy_(…)`."""
    inner = [node for statement in loop.body for node in ast.walk(statement)]
    stored = [node for node in inner if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript)]
    return bool(stored) or any(names_any(node, ("copy_", "mul_", "lerp_", "add_")) for node in inner)
