"""Find the line that stores into a variable, and whether anything ever takes out of it again."""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterator

from paramedic.capture.holders import Holder
from paramedic.capture.where import shown_path
from paramedic.record.writer import NOWHERE, Site

_ADDS = {"append", "appendleft", "extend", "add", "insert", "update", "setdefault", "put"}
_TAKES = {"pop", "popleft", "popitem", "clear", "remove"}


def stored_at(holders: list[Holder]) -> Site:
    """The line that makes one of these variables grow; they are names of the same object."""
    for holder in holders:
        for file in holder.files:
            found = [(line, function) for line, function, grows in _uses(file, holder.name) if grows]
            # The function a local variable belongs to is where it is stored, unless it is passed on.
            own = [(line, function) for line, function in found if function == (holder.function or function)]
            for line, function in own:
                return Site(shown_path(file), line, function)
    return NOWHERE


def is_ever_emptied(holders: list[Holder]) -> bool:
    """Whether some line takes elements out of the container or begins it anew."""
    return any(not grows for holder in holders for file in holder.files for _, _, grows in _uses(file, holder.name))


@functools.lru_cache(maxsize=256)
def _uses(file: str, name: str) -> tuple[tuple[int, str, bool], ...]:
    """Line, function, and whether the variable grows there (otherwise it shrinks)."""
    found = list(_uses_in(_tree(file), "<module>", name))
    starts = [use for use in found if use[2] is None]
    # The first assignment is how it came to be; every further one begins it anew.
    again = [(line, function, False) for line, function, _ in starts[1:]]
    return tuple((line, function, grows) for line, function, grows in found if grows is not None) + tuple(again)


@functools.lru_cache(maxsize=64)
def _tree(file: str) -> ast.Module:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module(body=[], type_ignores=[])


def _uses_in(node: ast.AST, function: str, name: str) -> Iterator[tuple[int, str, bool | None]]:
    for child in ast.iter_child_nodes(node):
        inner = child.name if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) else function
        if (grows := _effect(child, name)) is not _NONE:
            yield child.lineno, inner, grows  # type: ignore[attr-defined]
        yield from _uses_in(child, inner, name)


_NONE = object()


def _effect(node: ast.AST, name: str) -> bool | None | object:
    """True: grows, False: shrinks, None: is assigned; _NONE: the statement has nothing to do with it."""
    if isinstance(node, ast.AugAssign):
        return True if _base(node.target) == name else _NONE
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _base(node.func.value) == name:
        if node.func.attr in _ADDS:
            return True
        return False if node.func.attr in _TAKES else _NONE
    if isinstance(node, ast.Delete):
        return False if any(_base(target) == name for target in node.targets) else _NONE
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in (inner for target in targets for inner in _flat(target)):
            if _base(target) == name:
                return _assigned(target, node.value, name)
    return _NONE


def _assigned(target: ast.expr, value: ast.expr, name: str) -> bool | None:
    if isinstance(target, ast.Subscript):
        return not isinstance(target.slice, ast.Slice)
    mentions = [inner for inner in ast.walk(value) if isinstance(inner, (ast.Name, ast.Attribute))]
    if not any(_base(inner) == name for inner in mentions):
        return None
    # `kept = kept[-100:]` shrinks, `total = total + loss` grows.
    return not isinstance(value, ast.Subscript)


def _flat(target: ast.expr) -> list[ast.expr]:
    return list(target.elts) if isinstance(target, (ast.Tuple, ast.List)) else [target]


def _base(node: ast.expr) -> str | None:
    """The last identifier before any subscripts: history of `self.history["loss"]`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None
