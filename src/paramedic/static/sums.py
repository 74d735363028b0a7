"""Where a value that one line makes is added to others, as the terms of a loss are."""

from __future__ import annotations

import ast

from paramedic.findings import Where
from paramedic.static.blocks import without_gradients
from paramedic.static.history import Link, history
from paramedic.static.program import Program, Scope, own_nodes

MOST = 300  # sums looked at: a program with more is too large for this question


def added_at(program: Program, made: Where) -> Link | None:
    """The sum, with gradients on, that the value reaches by the fewest statements."""
    sums = [(scope, node) for scope in program.scopes() for node in own_nodes(scope.body) if _is_sum(node)]
    found: list[tuple[int, Link]] = []
    for scope, node in sums[:MOST]:
        assert isinstance(node, ast.BinOp | ast.AugAssign)
        if not without_gradients(scope, node.lineno):
            term = node.right if isinstance(node, ast.BinOp) else node.value
            hops = _hops(program, scope, term, made)
            found += [(hops, Link(node.lineno, term, scope, "called"))] if hops is not None else []
    return min(found, key=lambda pair: pair[0])[1] if found else None


def _is_sum(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub)


def _hops(program: Program, scope: Scope, term: ast.expr, made: Where) -> int | None:
    """How many statements lie between; None if the value does not come from that line."""
    if scope.file == made.file and term.lineno == made.line:
        return 0
    for link in history(program, scope, term):
        if (link.where.file, link.line) == (made.file, made.line):
            hops, user = 1, link.user
            while user is not None:
                hops, user = hops + 1, user.user
            return hops
    return None
