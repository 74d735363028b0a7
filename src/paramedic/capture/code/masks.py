"""Where the source makes the triangular mask that a call of attention uses."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator

from paramedic.capture.code.trees import tree
from paramedic.program.where import start_folder
from paramedic.record.writer import Site

_TRIANGLES = {"triu", "tril", "triu_", "tril_", "generate_square_subsequent_mask"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def triangle_at(site: Site, *, above: bool) -> Site | None:
    """The line that makes the one mask that the statement at this place uses, or with `above` its function so far."""
    if not site.file or site.line is None:
        return None
    module = tree(os.path.join(start_folder(), site.file))
    functions = [node for node in ast.walk(module) if isinstance(node, Function) and _holds(node, site.line)]
    if not functions:
        return None
    function = max(functions, key=lambda node: node.lineno)
    owner = next((c for c in ast.walk(module) if isinstance(c, ast.ClassDef) and _holds(c, site.line)), module)
    used = [n for n in ast.walk(function) if isinstance(n, ast.expr) and _is_near(n, site.line, above)]
    names = {n.id for n in used if isinstance(n, ast.Name)} | {n.attr for n in used if isinstance(n, ast.Attribute)}
    lines = {line for name, line in [*_made(owner), *_made(function), *_globals(module)] if name in names}
    lines |= {n.lineno for n in used if _is_triangle(n)}
    return site._replace(line=lines.pop()) if len(lines) == 1 else None


def _holds(node: Function | ast.ClassDef, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _is_near(node: ast.expr, line: int, above: bool) -> bool:
    return node.lineno <= line if above else node.lineno <= line <= (node.end_lineno or node.lineno)


def _globals(module: ast.Module) -> Iterator[tuple[str, int]]:
    for statement in module.body:
        if isinstance(statement, ast.Assign):
            yield from _made(statement)


def _made(scope: ast.AST) -> Iterator[tuple[str, int]]:
    """Names and attributes that are given a triangle: `mask = torch.triu(…)`, `self.register_buffer("mask", …)`."""
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign) and any(_is_triangle(inner) for inner in ast.walk(node.value)):
            for target in node.targets:
                if isinstance(target, (ast.Name, ast.Attribute)):
                    yield (target.id if isinstance(target, ast.Name) else target.attr), node.lineno
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", None) == "register_buffer":
            name = node.args[0] if node.args else None
            if isinstance(name, ast.Constant) and any(_is_triangle(inner) for inner in ast.walk(node)):
                yield str(name.value), node.lineno


def _is_triangle(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    return (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", None)) in _TRIANGLES
