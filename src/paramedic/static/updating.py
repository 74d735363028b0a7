"""Where a copy of a model is to be updated: the condition that lets it happen, and the weights it takes."""

from __future__ import annotations

import ast
from collections.abc import Collection

from paramedic.static.blocks import around
from paramedic.static.history import Link, history
from paramedic.static.program import Program, Scope, called, own_nodes
from paramedic.static.signs import name_of, names_any

_WRITES = ("load_state_dict", "copy_", "lerp_")
_BLENDS = ("copy_", "lerp_", "add_")


def held_back_at(program: Program, copy: str, ran: Collection[tuple[str | None, int | None]]) -> Link | None:
    """The only `if` around an update of this copy, other than the updates that ran; else around a function's call."""
    calls = [(s, n) for s in program.scopes() for n in own_nodes(s.body) if isinstance(n, ast.Call)]
    waiting = [(scope, call) for scope, call in calls if (scope.file, call.lineno) not in ran]
    direct = [(scope, call) for scope, call in waiting if _updates(call, copy)]
    within = [(scope, call) for scope, call in waiting if _lets_update(program, call, copy)]
    return _only_condition(direct) or _only_condition(within)


def blended_with_itself_at(program: Program, copy: str, source: str) -> Link | None:
    """The only line that gives the update of a copy its own weights where those of its source belong."""
    found: dict[tuple[str, int], Link] = {}
    for scope in program.scopes():
        for node in own_nodes(scope.body):
            if isinstance(node, ast.Call) and called(node) in _BLENDS and isinstance(node.func, ast.Attribute):
                link = _own_weights(program, scope, node.func.value, node.args, copy, source)
                if link is not None:
                    found[link.scope.file, link.line] = link
    return next(iter(found.values())) if len(found) == 1 else None


def _own_weights(
    program: Program, scope: Scope, written: ast.expr, given: list[ast.expr], copy: str, source: str
) -> Link | None:
    """`for p in copy.parameters(): p.lerp_(theirs, 0.01)`, where theirs are those of the copy too."""
    if not any(names_any(link.node, (copy,)) for link in history(program, scope, written)):
        return None
    for argument in given:
        made = history(program, scope, argument)
        own = [link for link in made if names_any(link.node, (copy,))]
        if own and not any(names_any(link.node, (source,)) for link in made if not _made_for(link, copy)):
            return own[0]
    return None


def _made_for(link: Link, copy: str) -> bool:
    """A statement that only says how the copy was made at first: `copy = deepcopy(source)`."""
    user = link.user
    while user is not None and not names_any(user.node, (copy,)):
        user = user.user
    return user is not None


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
