"""What a line stands in: branches, loops, and blocks without gradients."""

from __future__ import annotations

import ast

from paramedic.static.program import Scope, own_nodes
from paramedic.static.signs import name_of, names_any

_OFF = ("no_grad", "inference_mode")


def around(scope: Scope, line: int) -> list[ast.stmt]:
    """The compound statements that hold a line, outermost first."""
    compound = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try)
    found = [node for node in own_nodes(scope.body) if isinstance(node, compound)]
    return [node for node in found if node.lineno < line <= (node.end_lineno or node.lineno)]


def without_gradients(scope: Scope, line: int) -> bool:
    """Whether gradients are off there: by the function's decorator or a with block."""
    decorators = scope.function.decorator_list if scope.function is not None else []
    if any(name_of(inner) in _OFF for decorator in decorators for inner in ast.walk(decorator)):
        return True
    return block_without_gradients(scope, line) is not None


def block_without_gradients(scope: Scope, line: int) -> ast.stmt | None:
    """The innermost with block around a line that turns gradients off."""
    blocks = [block for block in around(scope, line) if isinstance(block, ast.With | ast.AsyncWith)]
    off = [block for block in blocks if any(names_any(item.context_expr, _OFF) for item in block.items)]
    return off[-1] if off else None


def loop_around(scope: Scope, line: int) -> ast.For | ast.AsyncFor | None:
    """The innermost for loop that holds a line."""
    loops = [block for block in around(scope, line) if isinstance(block, ast.For | ast.AsyncFor)]
    return loops[-1] if loops else None


def last_branch(scope: Scope, line: int) -> ast.If | None:
    """The last `if` or `elif` of the chain that a line stands in: whatever it does not catch falls through."""
    branches = [block for block in around(scope, line) if isinstance(block, ast.If)]
    if not branches:
        return None
    branch = branches[-1]
    while len(branch.orelse) == 1 and isinstance(branch.orelse[0], ast.If):
        branch = branch.orelse[0]
    return branch


def keeps_answers_alone(loop: ast.For | ast.AsyncFor) -> bool:
    """`for x, _ in loader: answers.append(model(x))`: a part of each batch is thrown away, and results are kept."""
    if not isinstance(loop.target, ast.Tuple) or not all(isinstance(part, ast.Name) for part in loop.target.elts):
        return False
    inner = [node for statement in loop.body for node in ast.walk(statement)]
    read = {node.id for node in inner if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    unused = [part for part in loop.target.elts if isinstance(part, ast.Name) and part.id not in read]
    kept = [node for node in inner if isinstance(node, ast.Call) and name_of(node.func) in ("append", "extend")]
    return bool(unused) and len(unused) < len(loop.target.elts) and bool(kept)
