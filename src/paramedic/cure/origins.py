"""Where a value comes from: the expressions that made it, in this file and in others of the project."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from paramedic.cure.source import Node, Source
from paramedic.errors import ParamedicError
from paramedic.static.history import Link, history
from paramedic.static.program import Program, own_nodes


@dataclass(frozen=True, slots=True)
class Origin:
    """What is assigned, returned or handed over in one statement."""

    source: Source
    node: Node
    kind: str  # "assigned", "returned", "called" or "given"


def origins(source: Source, node: Node) -> list[Origin]:
    """Of the value of an expression, nearest first."""
    program = _program(source)
    scope = program.scope(source.file, source.line(node))
    lines, place = source.text.split("\n"), source.place(node)
    nodes = [found for found in own_nodes(scope.body) if isinstance(found, ast.expr)] if scope is not None else []
    same = next((found for found in nodes if (_start(found, lines), _end(found, lines)) == place), None)
    if scope is None or same is None:
        return []
    return list(_as_nodes({source.file: source}, source, history(program, scope, same)))


def _as_nodes(known: dict[str, Source], source: Source, links: list[Link]) -> Iterator[Origin]:
    for link in links:
        file = link.scope.file
        if file not in known:
            try:
                known[file] = source.in_file(file)
            except (ParamedicError, KeyError):
                continue
        home = known[file]
        lines = home.text.split("\n")
        found = home.expression_at((_start(link.node, lines), _end(link.node, lines)))
        if found is not None:
            yield Origin(home, found, link.kind)


@lru_cache(maxsize=4)
def _program(source: Source) -> Program:
    others = {file: text for file, text in source.beside.files().items() if file.endswith(".py")}
    return Program({**others, source.file: source.text})


def _start(node: ast.expr, lines: list[str]) -> tuple[int, int]:
    return node.lineno, _characters(lines[node.lineno - 1], node.col_offset)


def _end(node: ast.expr, lines: list[str]) -> tuple[int, int]:
    line = node.end_lineno or node.lineno
    return line, _characters(lines[line - 1], node.end_col_offset or 0)


def _characters(line: str, count: int) -> int:
    """ast counts the bytes of UTF-8."""
    return len(line.encode()[:count].decode(errors="ignore"))
