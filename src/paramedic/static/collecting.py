"""Where a program collects weights: of a model's parameters, which do not include its buffers, or of a checkpoint."""

from __future__ import annotations

import ast

from paramedic.findings import Where
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


def filtered_at(program: Program, load: Where) -> Link | None:
    """The last dictionary comprehension with a condition before the load in its function: it chooses what is loaded."""
    scope = program.scope(load.file, load.line)
    nodes = own_nodes(scope.body) if scope is not None else ()
    chosen = [node for node in nodes if isinstance(node, ast.DictComp) and any(part.ifs for part in node.generators)]
    before = [node for node in chosen if node.lineno <= (load.line or 0)]
    return Link(before[-1].lineno, before[-1], scope, "assigned") if before and scope is not None else None


def _keeps(loop: ast.For) -> bool:
    """`average[name] = …`, `mine.mul_(…).add_(…)`, `mine.data.copy_(…)`."""
    inner = [node for statement in loop.body for node in ast.walk(statement)]
    stored = [node for node in inner if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript)]
    return bool(stored) or any(names_any(node, ("copy_", "mul_", "lerp_", "add_")) for node in inner)


def decay_at(program: Program, share: float) -> Link | None:
    """The only line that gives the decay of an average that takes about this share of the new weights in a step."""
    found = [
        Link(node.lineno, node, scope, "given")
        for scope in program.scopes()
        for node in own_nodes(scope.body)
        if isinstance(node, ast.Constant) and isinstance(node.value, float) and share / 4 < 1 - node.value < 4 * share
    ]
    return found[0] if len({(link.scope.file, link.line) for link in found}) == 1 else None
