"""The statement that a frame was executing, and the expressions it reads."""

from __future__ import annotations

import ast
import itertools
import linecache
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import NamedTuple

MOST_SOURCE = 2_000_000  # characters; larger files are data


class Statement(NamedTuple):
    """A statement of the user's code; of a compound statement (if, for, with …) only its head."""

    text: str  # on one line
    reads: list[ast.expr]  # names, attributes and subscripts, in the order in which they are written


def statement_at(frame: FrameType, line: int, instruction: int) -> Statement | None:
    """The statement on this line of the frame's file; None when the source cannot be had or does not fit.

    `instruction` tells several statements on one line apart.
    """
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    if not lines or sum(map(len, lines)) > MOST_SOURCE:
        return None
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    node = _innermost(tree, line, _column(frame.f_code, instruction))
    if node is None:
        return None
    if frame.f_code.co_name == "<lambda>":
        body = _lambda_body(node, frame.f_code)
        return None if body is None else Statement(f"lambda: {ast.unparse(body)}", _unique([body]))
    heads = list(_heads(node))
    first, last = node.lineno, max([head.end_lineno or head.lineno for head in heads] or [node.lineno])
    text = " ".join(part.strip() for part in lines[first - 1 : last])
    return Statement(text, _unique(heads))


def _unique(heads: list[ast.expr]) -> list[ast.expr]:
    reads: dict[str, ast.expr] = {}
    for head in heads:
        for found in _reads(head):
            reads.setdefault(ast.unparse(found), found)
    return list(reads.values())


def _column(code: CodeType, instruction: int) -> int:
    """Where on its line the code of an instruction begins; far to the right when that is not known."""
    column = next(itertools.islice(code.co_positions(), instruction // 2, None), (None,) * 4)[2]
    return 1 << 30 if column is None else column


def _innermost(tree: ast.Module, line: int, column: int) -> ast.stmt | None:
    best: ast.stmt | None = None
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt) or not node.lineno <= line <= (node.end_lineno or node.lineno):
            continue
        if node.lineno == line and node.col_offset > column:
            continue
        # The later in the file a statement that still covers the line begins, the further inside it is.
        if best is None or (node.lineno, node.col_offset) >= (best.lineno, best.col_offset):
            best = node
    return best


def _lambda_body(node: ast.stmt, code: CodeType) -> ast.expr | None:
    """The body of the lambda that this code was compiled from: the smallest one that covers its instructions."""
    places = [(line, column) for line, _, column, end in code.co_positions() if line and column is not None and end]
    bodies = [found.body for found in ast.walk(node) if isinstance(found, ast.Lambda)]
    around = [body for body in bodies if places and _covers(body, min(places)) and _covers(body, max(places))]
    return max(around, key=lambda body: (body.lineno, body.col_offset), default=None)


def _covers(node: ast.expr, place: tuple[int, int]) -> bool:
    end = (node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
    return (node.lineno, node.col_offset) <= place <= end


def _heads(node: ast.stmt) -> Iterator[ast.expr]:
    """The expressions that the statement itself evaluates, without those of the statements inside it."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield from node.decorator_list
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield child
        elif isinstance(child, ast.withitem):
            yield child.context_expr


def _reads(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Lambda):
        return  # its body runs in a frame of its own
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield node.func  # a module is called through an attribute; of a method, its object will be shown
        children: list[ast.AST] = [*node.args, *node.keywords]
        if not _is_path(node.func):
            children.insert(0, node.func.value)
    elif isinstance(node, (ast.Name, ast.Attribute)) and _is_path(node):
        if not isinstance(node.ctx, ast.Store) or isinstance(node, ast.Attribute):
            yield node
        return
    elif isinstance(node, ast.Subscript):
        yield from _reads(node.value)
        yield from _reads(node.slice)
        if not isinstance(node.ctx, ast.Store):
            yield node
        return
    else:
        children = list(ast.iter_child_nodes(node))
    for child in children:
        yield from _reads(child)


def _is_path(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)
