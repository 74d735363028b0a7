"""Conditions that were asked and always answered alike, so that one of their branches never ran."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from paramedic.static.program import Program


class Untaken(NamedTuple):
    """A branch that never ran."""

    file: str
    line: int
    test: str
    always: bool  # the answer that the condition always gave


def never_taken(program: Program, ran: Mapping[str, Collection[int]]) -> Iterator[Untaken]:
    """By the lines that ran in each file; a condition that was never reached is not listed."""
    for file, lines in ran.items():
        for node in ast.walk(program.trees.get(file) or ast.Module([], [])):
            if not isinstance(node, ast.If) or not _any_of(node.test.lineno, node.test.end_lineno, lines):
                continue
            then = _ran(node.body, lines)
            other = _ran(node.orelse, lines) if node.orelse else then
            if not then:
                yield Untaken(file, node.lineno, ast.unparse(node.test), False)
            elif not other:
                yield Untaken(file, node.lineno, ast.unparse(node.test), True)


def _ran(body: list[ast.stmt], lines: Collection[int]) -> bool:
    return any(_any_of(statement.lineno, statement.end_lineno, lines) for statement in body)


def _any_of(first: int, last: int | None, lines: Collection[int]) -> bool:
    return any(line in lines for line in range(first, (last or first) + 1))
