"""Where the source makes a share of right answers per batch, and averages these over the batches."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from paramedic.capture.code.tallies import innermost, is_comparison, own_nodes, parsed

MEANS = ("mean", "fmean", "average", "nanmean")
PLAIN = ("item", "float", "double", "cpu", "detach", "numpy", "tolist", "to", "long", "int")


class Average(NamedTuple):
    """Shares of right answers that are added up, or kept in a list, and averaged."""

    counter: ast.expr
    kept: bool  # in a list
    line: int  # that the user must edit


def average_at(source: str, line: int, helper: str | None = None) -> Average | None:
    """The average of averages that the comparison at this line feeds, or a call of `helper`, which gives a share.

    `total += (a == b).float().mean()` and `total / len(loader)`; `shares.append(…)` and `sum(shares) / len(shares)`.
    """
    tree = parsed(source)
    own = list(own_nodes(innermost(tree, line))) if tree is not None else []
    loops = [n for n in own if isinstance(n, ast.For | ast.While) and n.lineno <= line <= (n.end_lineno or 0)]
    if not loops:
        return None
    body = [node for part in loops[-1].body for node in ast.walk(part)]
    shares = _Shares(body, line, helper)
    for node in body:
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and _is_place(node.target):
            value, averages = _without_length(node.value), list(_quotients(own, node.target, loops[-1]))
            if shares.holds(value) and (averages or value is not node.value):
                return Average(node.target, False, line if value is not node.value else node.lineno)
        target = _appended_to(node)
        if target is not None and isinstance(node, ast.Call) and shares.holds(node.args[0]):
            for average in _means(own, target):
                return Average(target, True, average.lineno)
    return None


def gives_share(source: str, line: int) -> bool:
    """Whether the function around this line returns the share of right answers that the line counts, and no more."""
    tree = parsed(source)
    scope = innermost(tree, line) if tree is not None else None
    if scope is None or isinstance(scope, ast.Module):
        return False
    own = list(own_nodes(scope))
    returns = [node.value for node in own if isinstance(node, ast.Return) and node.value is not None]
    shares = _Shares(own, line, None)
    return len(returns) == 1 and shares.holds(returns[0])


class _Shares:
    """Which expressions are a share of right answers, given the line of the comparison or the helper's name."""

    def __init__(self, nodes: list[ast.AST], line: int, helper: str | None) -> None:
        self.line, self.helper = line, helper
        self.compared: set[str] = set()
        self.shares: set[str] = set()
        for node in nodes:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                if self.holds(node.value):
                    self.shares.add(node.targets[0].id)
                elif self._is_count(node.value, with_sum=False) or self._is_count(node.value, with_sum=True):
                    self.compared.add(node.targets[0].id)

    def holds(self, expression: ast.expr) -> bool:
        expression = _bare(expression)
        if isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Mult):
            sides = [side for side in (expression.left, expression.right) if not isinstance(side, ast.Constant)]
            return len(sides) == 1 and self.holds(sides[0])  # in per cent
        if isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Div):
            return _is_size(expression.right) and self._is_count(expression.left, with_sum=True)
        if isinstance(expression, ast.Name):
            return expression.id in self.shares
        if not isinstance(expression, ast.Call):
            return False
        if self.helper is not None:
            return _name_of(expression.func) == self.helper
        if _name_of(expression.func) not in MEANS:
            return False
        inner = expression.args[0] if expression.args else getattr(expression.func, "value", None)
        return inner is not None and self._is_count(inner, with_sum=False)

    def _is_count(self, expression: ast.expr, *, with_sum: bool) -> bool:
        """The comparison, as it is or added up."""
        expression = _bare(expression)
        if with_sum and isinstance(expression, ast.Call) and _name_of(expression.func) == "sum":
            inner = expression.args[0] if expression.args else getattr(expression.func, "value", None)
            return inner is not None and self._is_count(inner, with_sum=False)
        here = expression.lineno <= self.line <= (expression.end_lineno or 0)
        named = isinstance(expression, ast.Name) and expression.id in self.compared
        return self.helper is None and (named or (here and is_comparison(expression, set())))


def _bare(expression: ast.expr) -> ast.expr:
    """Without casts: float(x), x.item(), x.float()."""
    while isinstance(expression, ast.Call):
        func = expression.func
        if isinstance(func, ast.Attribute) and func.attr in PLAIN:
            expression = func.value
        elif isinstance(func, ast.Name) and func.id in ("float", "int") and len(expression.args) == 1:
            expression = expression.args[0]
        else:
            break
    return expression


def _name_of(func: ast.expr) -> str:
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


def _is_place(expression: ast.expr) -> bool:
    return isinstance(expression, ast.Name | ast.Attribute)


def _is_size(expression: ast.expr) -> bool:
    """len(y), y.size(0), y.shape[0], y.numel()."""
    if isinstance(expression, ast.Call):
        return _name_of(expression.func) in ("len", "size", "numel")
    return isinstance(expression, ast.Subscript) and getattr(expression.value, "attr", "") == "shape"


def _without_length(value: ast.expr) -> ast.expr:
    """`share / len(loader)`: the division comes before the sum."""
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div) and isinstance(value.right, ast.Call):
        inner = _bare(value.left)
        is_share = isinstance(inner, ast.Call) and _name_of(inner.func) in MEANS
        return value.left if _name_of(value.right.func) == "len" and is_share else value
    return value


def _appended_to(node: ast.AST) -> ast.expr | None:
    func = node.func if isinstance(node, ast.Call) and len(node.args) == 1 else None
    if isinstance(func, ast.Attribute) and func.attr == "append" and _is_place(func.value):
        return func.value
    return None


def _same(a: ast.AST, b: ast.AST) -> bool:
    return ast.unparse(a) == ast.unparse(b)


def _quotients(own: list[ast.AST], counter: ast.expr, loop: ast.For | ast.While) -> Iterator[ast.AST]:
    """`counter / len(x)`, `counter / batches` where batches grows by 1 in the loop, `counter / (i + 1)`."""
    ones = [n for part in loop.body for n in ast.walk(part) if isinstance(n, ast.AugAssign)]
    grows = [n.target for n in ones if isinstance(n.value, ast.Constant) and n.value.value == 1]
    for node in own:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            left, right = node.left, node.right
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div):
            left, right = node.target, node.value
        else:
            continue
        if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mult):
            left = left.right if isinstance(left.left, ast.Constant) else left.left
        length = isinstance(right, ast.Call) and _name_of(right.func) == "len"
        counted = any(_same(right, each) for each in grows)
        index = isinstance(right, ast.BinOp) and isinstance(right.right, ast.Constant) and right.right.value == 1
        if _same(_bare(left), counter) and (length or counted or index):
            yield node


def _means(own: list[ast.AST], kept: ast.expr) -> Iterator[ast.expr]:
    """`sum(kept) / len(…)`, `np.mean(kept)`, `torch.tensor(kept).mean()`."""
    for node in own:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            left = _bare(node.left)
            if isinstance(left, ast.Call) and _name_of(left.func) == "sum" and any(_same(a, kept) for a in left.args):
                yield node
        elif isinstance(node, ast.Call) and _name_of(node.func) in MEANS and not _weighted(node):
            inside = [*node.args, *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
            if any(_same(part, kept) for each in inside for part in ast.walk(each)):
                yield node


def _weighted(mean: ast.Call) -> bool:
    """`np.average(shares, weights=sizes)` counts every sample once."""
    return any(keyword.arg == "weights" for keyword in mean.keywords)
