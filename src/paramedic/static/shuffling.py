"""Values that are stored in the order of a loader that shuffles."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from paramedic.static.blocks import loop_around
from paramedic.static.history import Link, history
from paramedic.static.program import Program, called

Reading = tuple[ast.expr, ast.expr, Sequence[ast.AST]]  # what is read, the names of its parts, and what uses them


def read_shuffled(program: Program, link: Link) -> bool:
    """`[encode(x) for x, _ in loader]`, or the same in a loop: what is stored comes in the order of a shuffled loader.

    Labels that are taken from the data set itself then belong to other samples; not so those of the same batches.
    """
    loop = loop_around(link.scope, link.line) if link.kind != "given" else None
    inner = [node for node in ast.walk(link.node) if isinstance(node, ast.comprehension)]
    parts: list[Reading] = [(node.iter, node.target, [link.node]) for node in inner]
    parts += [(loop.iter, loop.target, loop.body)] if loop is not None else []
    for given, target, body in parts:
        made = [given, *(each.node for each in history(program, link.scope, given))]
        calls = [node for tree in made for node in ast.walk(tree) if isinstance(node, ast.Call)]
        orders = [(called(call), word.value) for call in calls for word in call.keywords if word.arg == "shuffle"]
        fixed = any(isinstance(value, ast.Constant) and not value.value for _, value in orders)
        if not fixed and any(name == "DataLoader" for name, _ in orders) and not _all_used(target, body):
            return True
    return False


def _all_used(target: ast.expr, body: Sequence[ast.AST]) -> bool:
    """Whether every part of a batch is used: the labels are then kept beside what is computed."""
    names = {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}
    nodes = [node for statement in body for node in ast.walk(statement) if isinstance(node, ast.Name)]
    return len(names) > 1 and names <= {node.id for node in nodes if isinstance(node.ctx, ast.Load)}
