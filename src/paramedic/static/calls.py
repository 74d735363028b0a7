"""Who calls the function that a line stands in, and who gives an argument of a name."""

from __future__ import annotations

import ast
from collections.abc import Collection

from paramedic.findings import Where
from paramedic.static.blocks import around
from paramedic.static.history import Link
from paramedic.static.program import Program, Scope, called, own_nodes, statement_at


def calls_of(program: Program, scope: Scope) -> list[Link]:
    """The lines that call a function, in the order of the source."""
    found = [
        Link(node.lineno, node, caller, "called")
        for caller in program.scopes()
        for node in own_nodes(caller.body)
        if isinstance(node, ast.Call) and called(node) == scope.name
    ]
    return sorted(found, key=lambda link: (link.where.file or "", link.line))


def taken_at(program: Program, where: Where) -> Link | None:
    """`return net.eval()` is meant so: the one line that calls this function takes what was made for another use."""
    scope = program.scope(where.file, where.line)
    if scope is None or where.line is None or not isinstance(statement_at(scope, where.line), ast.Return):
        return None
    calls = calls_of(program, scope)
    return calls[0] if len(calls) == 1 else None


def switched_by(program: Program, where: Where, other: Where, value: bool) -> Link | None:
    """The call of a helper that a line stands in, from the function of another line, with this value if several do."""
    helper, user = program.scope(where.file, where.line), program.scope(other.file, other.line)
    if helper is None or helper.function is None or helper == user:
        return None
    calls = [call for call in calls_of(program, helper) if call.scope == user]
    told = [call for call in calls if any(_is(node, value) for node in ast.walk(call.node))]
    found = told or calls
    return found[0] if len(found) == 1 else None


def _is(node: ast.AST, value: bool) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def second_call(program: Program, where: Where) -> Link | None:
    """A function called twice, one call after the other: the second phase of a training. Calls in a loop are one."""
    scope = program.scope(where.file, where.line)
    calls = calls_of(program, scope) if scope is not None and scope.function is not None else []
    one_place = len({call.scope for call in calls}) == 1 and len(calls) == 2
    looped = any(isinstance(block, ast.For | ast.While) for call in calls for block in around(call.scope, call.line))
    return calls[1] if one_place and not looped else None


def keyword_at(program: Program, names: Collection[str]) -> Link | None:
    """The only line that gives an argument one of these names."""
    found = [
        Link(node.value.lineno, node.value, scope, "given")
        for scope in program.scopes()
        for node in own_nodes(scope.body)
        if isinstance(node, ast.keyword) and node.arg in names
    ]
    return found[0] if len(found) == 1 else None
