"""Where the source leaves an axis of size one in a tensor: `q.gather(1, actions)`, `keepdim=True`."""

from __future__ import annotations

import ast
import functools

import torch

from paramedic.capture.code.storing import assigned_at
from paramedic.capture.code.trees import tree
from paramedic.program.where import shown_path, user_frame, variable_name
from paramedic.record.writer import Site

_KEEP = {"gather", "take_along_dim", "unsqueeze"}


def axis_kept_at(value: torch.Tensor) -> Site | None:
    """The line of the function now running that made this variable so; None unless its last call did."""
    frame = user_frame()
    name = variable_name(frame, value) if frame is not None and value.requires_grad else None
    if frame is None or name is None:
        return None
    return _kept_at(frame.f_code.co_filename, frame.f_code.co_name, name, frame.f_lineno)


@functools.lru_cache(maxsize=64)
def _kept_at(file: str, function: str, name: str, before: int) -> Site | None:
    line = assigned_at(file, function, name, before - 1)
    made = [node.value for node in ast.walk(tree(file)) if isinstance(node, ast.Assign) and node.lineno == line]
    return Site(shown_path(file), line, function) if len(made) == 1 and _keeps(made[0]) else None


def _keeps(value: ast.expr) -> bool:
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return False
    kept = any(k.arg == "keepdim" and getattr(k.value, "value", None) is True for k in value.keywords)
    return kept or value.func.attr in _KEEP
