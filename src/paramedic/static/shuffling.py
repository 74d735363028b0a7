"""Values that are stored in the order of a loader that shuffles."""

from __future__ import annotations

import ast

from paramedic.static.blocks import loop_around
from paramedic.static.history import Link, history
from paramedic.static.program import Program, called


def read_shuffled(program: Program, link: Link) -> bool:
    """`[encode(x) for x, _ in loader]`, or the same in a loop: what is stored comes in the order of a shuffled loader.

    Labels that are taken from the data set itself then belong to other samples.
    """
    loop = loop_around(link.scope, link.line) if link.kind != "given" else None
    parts = [node.iter for node in ast.walk(link.node) if isinstance(node, ast.comprehension)]
    for part in [*parts, *([loop.iter] if loop is not None else [])]:
        made = [part, *(each.node for each in history(program, link.scope, part))]
        calls = [node for tree in made for node in ast.walk(tree) if isinstance(node, ast.Call)]
        orders = [(called(call), word.value) for call in calls for word in call.keywords if word.arg == "shuffle"]
        fixed = any(isinstance(value, ast.Constant) and not value.value for _, value in orders)
        if not fixed and any(name == "DataLoader" for name, _ in orders):
            return True
    return False
