"""The guards in the source of a rule, and the source without one of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition: the whole test of an `if`, or one operand of `and` or `or`."""

    line: int
    column: int
    operand: int | None  # None: the whole
    text: str


def guards(tree: ast.Module) -> Iterator[Guard]:
    """Those of the part that reads runs; audits have a benchmark of their own."""
    nodes = list(_of_runs(tree))
    worded = {inner for node in nodes if isinstance(node, ast.IfExp) for inner in ast.walk(node.test)}
    for node in nodes:
        if isinstance(node, ast.If) and _leaves(node):
            yield Guard(node.test.lineno, node.test.col_offset, None, f"if {_text(node.test)}")
            if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.Or):
                yield from _operands(node.test)
        elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) and node not in worded:
            yield from _operands(node)


def without(tree: ast.Module, guard: Guard) -> ast.Module:
    """The same tree, in which this one does not exist."""
    return _Remove(guard).visit(tree)  # type: ignore[no-any-return]


def _of_runs(tree: ast.Module) -> Iterator[ast.AST]:
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "in_data":
            return  # what follows is asked about data sets
        if isinstance(statement, ast.FunctionDef):
            yield from ast.walk(statement)


def _leaves(node: ast.If) -> bool:
    """`if …: continue`, `return` without a value. Abstaining is a matter of words, and what is returned another job."""
    last = node.body[-1]
    empty = isinstance(last, ast.Return) and (last.value is None or _text(last.value) in ("None", "False", "[]"))
    return len(node.body) == 1 and not node.orelse and (empty or isinstance(last, ast.Continue))


def _operands(node: ast.BoolOp) -> Iterator[Guard]:
    word = "and" if isinstance(node.op, ast.And) else "or"
    for index, operand in enumerate(node.values):
        yield Guard(node.lineno, node.col_offset, index, f"{word} {_text(operand)}")


def _text(node: ast.AST) -> str:
    return ast.unparse(node)[:90]


class _Remove(ast.NodeTransformer):
    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        if self._guard.operand is None and self._is_it(node.test):
            node.test = ast.Constant(False)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        if self._guard.operand is None or not self._is_it(node) or len(node.values) < 2:
            return node
        left = [value for index, value in enumerate(node.values) if index != self._guard.operand]
        return left[0] if len(left) == 1 else ast.BoolOp(op=node.op, values=left)

    def _is_it(self, node: ast.expr) -> bool:
        return (node.lineno, node.col_offset) == (self._guard.line, self._guard.column)
