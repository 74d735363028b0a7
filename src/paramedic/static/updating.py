"""Where a copy of a model is to be updated: the condition that lets it happen."""

from __future__ import annotations

import ast
from collections.abc import Collection

from paramedic.static.blocks import around
from paramedic.static.history import Link
from paramedic.static.program import Program, Scope, called, own_nodes
from paramedic.static.signs import name_of, names_any

_WRITES = ("load_state_dict", "copy_", "lerp_")


def held_back_at(program: Program, copy: str, ran: Collection[tuple[str | None, int | None]]) -> Link | None:
    """The only `if` around an update of this copy, other than the updates that ran; else around a function's call."""
    calls = [(s, n) for s in program.scopes() for n in own_nodes(s.body) if isinstance(n, ast.Call)]
    waiting = [(scope, call) for scope, call in calls if (scope.file, call.lineno) not in ran]
    direct = [(scope, call) for scope, call in waiting if _updates(call, copy)]
    within = [(scope, call) for scope, call in waiting if _lets_update(program, call, copy)]
    return _only_condition(direct) or _only_condition(within)


def _only_condition(calls: list[tuple[Scope, ast.Call]]) -> Link | None:
    found: dict[tuple[str, int], Link] = {}
    for scope, call in calls:
        for condition in [block for block in around(scope, call.lineno) if isinstance(block, ast.If)][-1:]:
            if _in_body(condition, call):
                found[scope.file, condition.lineno] = Link(condition.lineno, condition.test, scope, "called")
    return next(iter(found.values())) if len(found) == 1 else None


def _updates(call: ast.Call, copy: str) -> bool:
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return called(call) in _WRITES and owner is not None and name_of(owner) == copy


def _lets_update(program: Program, call: ast.Call, copy: str) -> bool:
    """A call of a function of the user's that writes into the copy, or into what it is given."""
    given = any(name_of(argument) == copy for argument in call.args)
    functions = [scope for scope in program.functions.get(called(call), []) if given or names_any(scope.body, (copy,))]
    inner = [node for scope in functions for node in own_nodes(scope.body) if isinstance(node, ast.Call)]
    return any(called(node) in _WRITES for node in inner)


def _in_body(condition: ast.If, node: ast.AST) -> bool:
    """In what happens if it is true, not in the `else`."""
    return any(node is inner for statement in condition.body for inner in ast.walk(statement))
