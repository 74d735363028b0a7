"""Dictionaries of built objects from which a variable picks one: `blocks = {"a": A(), "b": B()}`, `blocks[kind]`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paramedic.static.definitions import definitions
from paramedic.static.program import Program, Scope, own_nodes

_LOOPS = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp)


def picked_again_and_again(program: Program, file: str | None, line: int | None, born: int | None) -> str | None:
    """The registry, by its name, whose entry built on line `born` the function around `line` reads once per round.

    The key is the same in every round, and a variable: an entry with a fixed name may be shared on purpose.
    """
    scope = program.scope(file, line)
    if scope is None or born is None:
        return None
    for loop in own_nodes(scope.body):
        if not isinstance(loop, _LOOPS):
            continue
        counted = set(_counters(loop))
        for name, key in _reads(loop):
            chosen = {node.id for node in ast.walk(key) if isinstance(node, ast.Name)}
            if chosen and not chosen & counted and _holds(program, scope, name, loop.lineno, born):
                return name
    return None


def _counters(loop: ast.AST) -> Iterator[str]:
    """All names that change from round to round."""
    for node in ast.walk(loop):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _reads(loop: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """`name[key]` and `name.get(key)` that are not called: a registry of classes or functions builds anew."""
    called = {id(node.func) for node in ast.walk(loop) if isinstance(node, ast.Call)}
    for node in ast.walk(loop):
        if id(node) in called:
            continue
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            yield node.value.id, node.slice
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            owner = node.func.value
            if node.func.attr == "get" and isinstance(owner, ast.Name):
                yield owner.id, node.args[0]


def _holds(program: Program, scope: Scope, name: str, line: int, born: int) -> bool:
    """Whether the name is a dictionary of several entries, one of which is built on that line."""
    made = definitions(scope.body, name, line) or definitions(program.around(scope).body, name, None)
    for definition in made:
        value = definition.value
        if isinstance(value, ast.Dict) and len(value.values) > 1:
            built = [v for v in value.values if isinstance(v, ast.Call)]
            if any(v.lineno <= born <= (v.end_lineno or v.lineno) for v in built):
                return True
    return False
