"""Whether the widths of layers are written as numbers or given as settings."""

from __future__ import annotations

import ast

from paramedic.findings import Where
from paramedic.static.program import Program, called, own_nodes, statement_at

_LAYERS = ("Linear", "LazyLinear", "Conv1d", "Conv2d", "Conv3d", "Parameter")


def one_is_a_setting(program: Program, where: Where) -> bool:
    """Whether an axis of one entry can only come from an argument that was given as 1: `Mixture(components=1)`.

    No layer of the program has 1 as its written width, some have an argument of their function, and the statement
    itself adds no axis.
    """
    scope = program.scope(where.file, where.line)
    statement = statement_at(scope, where.line) if scope is not None and where.line is not None else None
    if statement is None or any(_adds_axis(node) for node in ast.walk(statement)):
        return False
    by_argument = False
    for each in program.scopes():
        taken = {argument.arg for argument in each.function.args.args} if each.function is not None else set()
        for node in own_nodes(each.body):
            width = _width(node) if isinstance(node, ast.Call) and called(node) in _LAYERS else None
            if isinstance(width, ast.Constant) and width.value == 1:
                return False
            by_argument |= isinstance(width, ast.Name) and width.id in taken
    return by_argument


def _width(call: ast.Call) -> ast.expr | None:
    named = [word.value for word in call.keywords if word.arg in ("out_features", "out_channels")]
    lazy = called(call) == "LazyLinear"
    return named[0] if named else next(iter(call.args[0 if lazy else 1 :]), None)


def _adds_axis(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return called(node) in ("unsqueeze", "view", "reshape") or any(word.arg == "keepdim" for word in node.keywords)
    return isinstance(node, ast.Subscript) and any(
        isinstance(part, ast.Constant) and part.value is None for part in ast.walk(node.slice)
    )
