"""The user's files as syntax trees, each parsed once."""

from __future__ import annotations

import ast
import functools
import linecache


@functools.lru_cache(maxsize=64)
def tree(file: str) -> ast.Module:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module(body=[], type_ignores=[])
