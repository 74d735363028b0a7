"""Stored values that have lost the order of their labels."""

from __future__ import annotations

import ast

import pytest

from paramedic.static.history import history
from paramedic.static.program import Program
from paramedic.static.shuffling import read_shuffled

LOADER = "loader = DataLoader(data, batch_size=32, shuffle={})\n"
LISTED = "stored = torch.cat([encode(x) for x, _ in loader])\nused = stored\n"
PAIRED = "stored = [(encode(x), y) for x, y in loader]\nused = stored\n"
LOOP = "stored = []\nfor x, y in loader:\n    stored.append(encode(x)){}\nused = stored\n"


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        (LOADER.format("True") + LISTED, True),
        (LOADER.format("False") + LISTED, False),
        (LOADER.format("True") + PAIRED, False),
        (LOADER.format("True") + LOOP.format("; labels.append(y)"), False),
    ],
)
def test_labels_of_the_same_batches_keep_the_order(text: str, lost: bool) -> None:
    program = Program({"train.py": text})
    scope = program.scope("train.py", 2)
    assert scope is not None
    used = ast.parse("used").body[0]
    assert isinstance(used, ast.Expr)
    links = history(program, scope, used.value)
    assert links and any(read_shuffled(program, link) for link in links) is lost
