"""Remedies read what a finding says: a rule whose sentence is rewritten must not lose its cure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import paramedic

SOURCE = Path(paramedic.__file__).parent
SAID = {"what", "why", "remedy"}  # the fields of a finding


def test_every_phrase_that_a_remedy_looks_for_is_said_by_a_rule() -> None:
    said = "\n".join(text.lower() for path in (SOURCE / "rules").rglob("*.py") for text in texts(path))
    wanted = {(path.name, text) for path in (SOURCE / "cure").rglob("*.py") for text in looked_for(path)}
    assert len(wanted) > 10
    assert {(name, text) for name, text in wanted if text.lower() not in said} == set()


def texts(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def looked_for(path: Path) -> Iterator[str]:
    """The words in `"words" in finding.remedy`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], ast.In | ast.NotIn):
            continue
        in_finding = any(isinstance(n, ast.Attribute) and n.attr in SAID for n in ast.walk(node.comparators[0]))
        if in_finding and isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
            yield node.left.value
