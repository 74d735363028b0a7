"""Where the source reshapes what a model is given."""

from __future__ import annotations

import ast
import os

from paramedic.capture.code.trees import tree
from paramedic.program.where import start_folder
from paramedic.record.writer import Site


def only_reshape(site: Site) -> Site | None:
    """The one line outside of forward() in the file of this call that reshapes to at least three axes, if it is one."""
    if not site.file:
        return None
    module = tree(os.path.join(start_folder(), site.file))
    forward = {
        id(inner)
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef) and node.name == "forward"
        for inner in ast.walk(node)
    }
    lines = {
        node.lineno for node in ast.walk(module) if isinstance(node, ast.Call) and id(node) not in forward and _is(node)
    }
    return site._replace(line=lines.pop(), function=None) if len(lines) == 1 else None


def _is(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("reshape", "view", "resize"):
        return False
    args = call.args[-1].elts if call.args and isinstance(call.args[-1], ast.Tuple | ast.List) else call.args
    return len(args) >= 3
