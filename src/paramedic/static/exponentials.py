"""Where the exponential of each batch's loss is kept, and the mean is taken of those."""

from __future__ import annotations

import ast

from paramedic.findings import Where
from paramedic.static.blocks import loop_around
from paramedic.static.history import Link
from paramedic.static.program import Program, Scope, own_nodes
from paramedic.static.signs import name_of, names_any

_MEANS = ("mean", "fmean", "average")


def averaged_exponential(program: Program, loss: Where) -> Link | None:
    """`scores.append(exp(loss))` or `total += exp(loss)` in a loop, and then their mean, of the loss that was computed
    in that loop or in a function that is called there."""
    for scope in program.scopes():
        for node in own_nodes(scope.body):
            kept = _kept(node)
            if kept is None:
                continue
            counter, value = kept
            found = _exponential(value)
            loop = loop_around(scope, value.lineno)
            if found is None or loop is None or not _averaged(scope, counter):
                continue
            inside = scope.file == loss.file and loop.lineno <= (loss.line or 0) <= (loop.end_lineno or 0)
            if inside or names_any(found, (loss.function or "",)):
                return Link(found.lineno, value, scope, "called")
    return None


def _kept(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """What is added to, and what is added."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        return node.target, node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append" and node.args:
        return node.func.value, node.args[0]
    return None


def _exponential(value: ast.expr) -> ast.Call | None:
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call) and name_of(node.func) == "exp"]
    return calls[0] if calls else None


def _averaged(scope: Scope, counter: ast.expr) -> bool:
    """`counter / n`, `sum(counter) / n`, `mean(counter)`."""
    text = ast.unparse(counter)
    for node in own_nodes(scope.body):
        part: ast.expr | None = None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            part = node.left
        elif isinstance(node, ast.Call) and name_of(node.func) in _MEANS and node.args:
            part = node.args[0]
        if part is not None and any(isinstance(n, ast.expr) and ast.unparse(n) == text for n in ast.walk(part)):
            return True
    return False
