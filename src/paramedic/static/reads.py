"""Where a function reads one of its arguments."""

from __future__ import annotations

import ast

from paramedic.static.history import Link
from paramedic.static.program import Program, Scope, own_nodes


def read_at(program: Program, class_: str, method: str, argument: str) -> Link | None:
    """The first statement of a method that reads the argument; where none does, the line that names it."""
    for scope in program.methods(class_, method):
        assert scope.function is not None
        given = scope.function.args
        if argument in [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]:
            line = _first_read(scope, argument) or scope.function.lineno
            return Link(line, ast.Name(argument), scope, "called")
    return None


def _first_read(scope: Scope, name: str) -> int | None:
    statements = [node for node in own_nodes(scope.body) if isinstance(node, ast.stmt)]
    simple = [s for s in statements if not hasattr(s, "body")]  # of a branch, what stands in it
    return next((s.lineno for s in simple if any(_reads(node, name) for node in ast.walk(s))), None)


def _reads(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
