"""Where a function reads one of its arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paramedic.static.history import Link, bound, entered_by
from paramedic.static.program import Program, Scope, own_nodes
from paramedic.static.signs import makes_alike

MOST_CALLS = 4  # that a value is followed into


def read_at(program: Program, class_: str, method: str, argument: str) -> Link | None:
    """The first statement of a method, or of what it hands it on to, that reads it; else the line that names it."""
    for scope in program.methods(class_, method):
        assert scope.function is not None
        given = scope.function.args
        if argument in [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]:
            return _within(program, scope, argument) or Link(scope.function.lineno, ast.Name(argument), scope, "called")
    return None


def _within(program: Program, scope: Scope, name: str, depth: int = 0) -> Link | None:
    """The first statement that reads it; if that only hands it on, the one there that makes all values alike."""
    statements = [node for node in own_nodes(scope.body) if isinstance(node, ast.stmt)]
    simple = [s for s in statements if not hasattr(s, "body")]  # of a branch, what stands in it
    readers = [s for s in simple if any(_reads(node, name) for node in ast.walk(s))]
    if not readers:
        return None
    reads = [node for s in statements for node in own_nodes(s) if _reads(node, name)]
    if len(set(reads)) == 1 and depth < MOST_CALLS:
        for inner, parameter in _handed_to(program, scope, readers[0], reads[0]):
            found = _within(program, inner, parameter, depth + 1)
            if found is not None and makes_alike(found.node) and not makes_alike(readers[0]):
                return found
    value = getattr(readers[0], "value", None) or ast.Name(name)
    return Link(readers[0].lineno, value, scope, "called")


def _handed_to(program: Program, scope: Scope, statement: ast.stmt, read: ast.AST) -> Iterator[tuple[Scope, str]]:
    """The user's function that a call gives the bare variable to, and what it is called there."""
    for call in ast.walk(statement):
        if isinstance(call, ast.Call) and read in (*call.args, *(keyword.value for keyword in call.keywords)):
            entered = entered_by(program, scope, call)
            if len(entered) == 1:
                yield from ((entered[0], name) for name, value in bound(entered[0], call).items() if value is read)


def _reads(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
