"""The user's files as syntax trees, each parsed once."""

from __future__ import annotations

import ast
import functools
import linecache
from types import CodeType


@functools.lru_cache(maxsize=64)
def tree(file: str) -> ast.Module:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module(body=[], type_ignores=[])


def definition(code: CodeType) -> ast.FunctionDef | None:
    """The statement that a function's code comes from."""
    found = [
        node
        for node in ast.walk(tree(code.co_filename))
        if isinstance(node, ast.FunctionDef)
        and node.name == code.co_name
        and min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) == code.co_firstlineno
    ]
    return found[0] if len(found) == 1 else None
