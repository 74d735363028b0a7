"""What a function makes of an argument, and overwrites before anybody has read it."""

from __future__ import annotations

import ast
from types import CodeType

from paramedic.capture.code.trees import definition
from paramedic.program.where import is_users, shown_path
from paramedic.record.writer import Site


def overwritten(code: CodeType, argument: str) -> tuple[Site, int] | None:
    """The statement that overwrites it, and the line whose work is lost; only where the path between is straight."""
    function = definition(code) if is_users(code.co_filename) else None
    if function is None:
        return None
    made = [(function.lineno, {argument}, function.body)]
    for index, statement in enumerate(function.body):
        if isinstance(statement, ast.Assign) and _reads(statement.value, argument):
            names = {name for target in statement.targets for name in _names(target)}
            made.append((statement.lineno, {n for n in names if not n.startswith("_")}, function.body[index + 1 :]))
    for line, names, following in made:
        ends = [_end(name, following) for name in names]
        if ends and all(end is not None for end in ends):
            last = max(end for end in ends if end is not None)
            return Site(shown_path(code.co_filename), last, code.co_name), line
    return None


def _end(name: str, statements: list[ast.stmt]) -> int | None:
    """The line that assigns the variable anew; None if something may read it first."""
    for statement in statements:
        unread = isinstance(statement, ast.Assign) and not _reads(statement.value, name)
        if isinstance(statement, ast.Assign) and unread and any(name in _names(t) for t in statement.targets):
            return statement.lineno
        if _reads(statement, name):
            return None
    return None


def _reads(node: ast.AST, name: str) -> bool:
    """Mentions it at all: within a branch, even an assignment leaves open what will be read later."""
    return any(isinstance(inner, ast.Name) and inner.id == name for inner in ast.walk(node))


def _names(target: ast.expr) -> set[str]:
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    return {part.id for part in parts if isinstance(part, ast.Name)}
