"""What the user's source says, whether it was reached or not."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def calls_method(source: str, line: int, method: str, like: str) -> bool:
    """Whether `method` is called on what the statement at this line is assigned to.

    An object that is passed on or returned may have other names elsewhere; then a name with `like` in it is enough.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    receivers = {
        _name(node.func.value).lower()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method
    }
    names = {name.lower() for name in _assigned(tree, line)}
    return bool(names & receivers) or (not names and any(like in receiver for receiver in receivers))


def function_around(source: str, line: int | None) -> int | None:
    """The line where the innermost function around this line begins; 0 outside of all, None if that is not known."""
    try:
        tree = ast.parse(source) if source and line is not None else None
    except (SyntaxError, ValueError):
        tree = None
    if tree is None or line is None:
        return None
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return max((f.lineno for f in functions if f.lineno <= line <= (f.end_lineno or f.lineno)), default=0)


def assigns_attribute(source: str, name: str) -> int | None:
    """The first line that assigns an attribute of this name."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    targets = [target for node in ast.walk(tree) if isinstance(node, ast.Assign) for target in node.targets]
    return min((t.lineno for t in targets if isinstance(t, ast.Attribute) and t.attr == name), default=None)


def _assigned(tree: ast.AST, line: int) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and node.lineno <= line <= (node.end_lineno or node.lineno):
            for target in node.targets:
                yield from (_name(part) for part in getattr(target, "elts", [target]))


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
