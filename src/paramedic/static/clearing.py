"""Where gradients are cleared less often than backward() runs."""

from __future__ import annotations

import ast

from paramedic.findings import Where
from paramedic.static.blocks import around
from paramedic.static.calls import calls_of
from paramedic.static.history import Link
from paramedic.static.program import Program, Scope, called, own_nodes

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def cleared_outside(program: Program, backward: Where) -> Link | None:
    """The only zero_grad() that stands outside the loop which runs backward(); None if one stands inside, too."""
    scope = program.scope(backward.file, backward.line)
    if scope is None or backward.line is None:
        return None
    line = backward.line
    if not _loops(scope, line):  # a function of one step: the loop is around its only call
        calls = calls_of(program, scope) if scope.function is not None and not _cleared(scope) else []
        if len(calls) != 1:
            return None
        scope, line = calls[0].scope, calls[0].line
    cleared = _cleared(scope)
    loops = _loops(scope, line)
    if len(cleared) != 1 or not loops or loops[-1] in _loops(scope, cleared[0].lineno):
        return None
    return Link(cleared[0].lineno, cleared[0], scope, "called")


def _cleared(scope: Scope) -> list[ast.Call]:
    return [n for n in own_nodes(scope.body) if isinstance(n, ast.Call) and called(n) == "zero_grad"]


def _loops(scope: Scope, line: int) -> list[ast.stmt]:
    return [block for block in around(scope, line) if isinstance(block, _LOOPS)]
