"""Where the source adds right answers to a counter, and what that counter is divided by."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module
LARGEST = 1_000_000  # characters


class Denominator(NamedTuple):
    """`… / len(sized)`."""

    sized: ast.expr
    line: int


class Counter(NamedTuple):
    """A number that grows by the right answers of each batch."""

    counter: ast.expr  # a name, or an attribute of one
    loop: ast.expr  # what the batches come from
    loop_line: int
    denominators: tuple[Denominator, ...]
    born: int  # the line that sets it to its first value
    may_stop_early: bool  # the loop may be left before its end


def counter_at(source: str, line: int) -> Counter | None:
    """The counter that the comparison at this line feeds, if it is clear which one."""
    tree = parsed(source)
    scope = innermost(tree, line) if tree is not None else None
    if scope is None:
        return None
    own = list(own_nodes(scope))
    added = _addition(own, line)
    loops = [node for node in own if isinstance(node, ast.For) and node.lineno <= line <= (node.end_lineno or 0)]
    if added is None or not loops:
        return None
    loop = loops[-1]  # the innermost
    batches = _iterated(loop.iter)
    if batches is None:
        return None
    left = any(isinstance(node, ast.Break | ast.Return) for part in loop.body for node in ast.walk(part))
    born = [node.lineno for node in own if isinstance(node, ast.Assign) and _assigns(node, added)]
    alone = isinstance(added, ast.Name) and _fed_once(own, added) and _counts_one_pass(own, loop, born)
    divisions = tuple(_divisions(own, added)) if alone else ()
    return Counter(added, batches, loop.lineno, divisions, max(born, default=line), left)


def _fed_once(own: list[ast.AST], counter: ast.expr) -> bool:
    return (
        sum(isinstance(n, ast.AugAssign) and isinstance(n.op, ast.Add) and _same(n.target, counter) for n in own) == 1
    )


def _counts_one_pass(own: list[ast.AST], loop: ast.For, born: list[int]) -> bool:
    """Whether it starts anew for each pass: several loaders, or several passes, may be counted together."""
    outer = [
        node
        for node in own
        if isinstance(node, ast.For | ast.While) and node.lineno < loop.lineno <= (node.end_lineno or 0)
    ]
    start = max((node.lineno for node in outer), default=0)
    return any(start < line < loop.lineno for line in born)


def _same(a: ast.expr, b: ast.expr) -> bool:
    return ast.unparse(a) == ast.unparse(b)


@lru_cache(maxsize=4)
def parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source) if len(source) < LARGEST else None
    except (SyntaxError, ValueError):
        return None


def innermost(tree: ast.Module, line: int) -> Function:
    inside = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return max(inside, key=lambda node: node.lineno, default=tree)


def own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function from outside to inside, without those of the functions in it."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def _addition(own: list[ast.AST], line: int) -> ast.expr | None:
    """The target of `counter += (a == b).sum()`, in one statement or by way of a name."""
    here = [n for n in own if isinstance(n, ast.Assign) and n.lineno <= line <= (n.end_lineno or 0)]
    names = {target.id for node in here for target in node.targets if isinstance(target, ast.Name)}
    for node in own:
        if not isinstance(node, ast.AugAssign) or not isinstance(node.op, ast.Add):
            continue
        direct = node.lineno <= line <= (node.end_lineno or 0)
        used = {part.id for part in ast.walk(node.value) if isinstance(part, ast.Name)}
        parts = [node.value, *(n.value for n in here if not direct)]
        if (direct or names & used) and all(_only_counts(part, names) for part in parts) and any(map(_sums, parts)):
            return node.target if isinstance(node.target, ast.Name | ast.Attribute) else None
    return None


def _only_counts(expression: ast.expr, names: set[str]) -> bool:
    """Neither an average nor a share: nothing but a sum is made of the comparison."""
    for node in ast.walk(expression):
        inside = [part for part in ast.walk(node) if part is not node and is_comparison(part, names)]
        if not inside or isinstance(node, ast.Compare):
            continue
        if isinstance(node, ast.BinOp) or (isinstance(node, ast.Attribute) and node.attr in ("mean", "size", "shape")):
            return False
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in ("int", "float"):
            return False
    return True


def is_comparison(node: ast.AST, names: set[str]) -> bool:
    """`a == b`, `a.eq(b)`, or a name that one of them was given."""
    by_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "eq"
    return isinstance(node, ast.Compare) or by_method or (isinstance(node, ast.Name) and node.id in names)


def _sums(expression: ast.expr) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == "sum" for node in ast.walk(expression))


def _iterated(expression: ast.expr) -> ast.expr | None:
    """The loader in `loader`, `enumerate(loader)` and `tqdm(loader, …)`."""
    while isinstance(expression, ast.Call) and expression.args:
        name = (
            expression.func.attr if isinstance(expression.func, ast.Attribute) else getattr(expression.func, "id", "")
        )
        if name not in ("enumerate", "tqdm", "trange", "track"):
            return None
        expression = expression.args[0]
    return expression if isinstance(expression, ast.Name | ast.Attribute) else None


def _assigns(node: ast.Assign, counter: ast.expr) -> bool:
    targets = [part for target in node.targets for part in getattr(target, "elts", [target])]
    return any(_same(target, counter) for target in targets)


def _divisions(own: list[ast.AST], counter: ast.expr) -> Iterator[Denominator]:
    """`counter / len(x)`, `100 * counter / len(x)`, `counter /= len(x)`; and by way of a name: `n = len(x)`."""
    assigned: dict[str, list[ast.expr]] = {}
    for node in own:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            assigned.setdefault(node.targets[0].id, []).append(node.value)
    for node in own:
        if isinstance(node, ast.BinOp):
            left, right = node.left, node.right
        elif isinstance(node, ast.AugAssign):
            left, right = node.target, node.value
        else:
            continue
        if not isinstance(node.op, ast.Div) or not _is_multiple(left, counter):
            continue
        line = node.lineno
        if isinstance(right, ast.Name) and len(assigned.get(right.id, ())) == 1:
            right = assigned[right.id][0]
            line = right.lineno
        sized = _length_of(right)
        if sized is not None:
            yield Denominator(sized, line)


def _is_multiple(expression: ast.expr, counter: ast.expr) -> bool:
    if isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Mult):
        sides = [expression.left, expression.right]
        other = [side for side in sides if not isinstance(side, ast.Constant)]
        return len(other) == 1 and _is_multiple(other[0], counter)
    if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute) and not expression.args:
        expression = expression.func.value  # correct.item(), correct.float()
    return _same(expression, counter)


def _length_of(expression: ast.expr) -> ast.expr | None:
    if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name) and expression.func.id == "len":
        sized = expression.args[0] if len(expression.args) == 1 else None
        return sized if isinstance(sized, ast.Name | ast.Attribute) else None
    return None
