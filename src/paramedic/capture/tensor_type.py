"""Annotations of torchtyping, `TensorType["batch", "classes": 10, torch.float32]`, as dimensions of a contract."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

Dims = list[str]
ANY = "_"
SKIP = ""  # it speaks of the type, the layout or the names, not of the shape


def written(parts: Sequence[ast.expr], names: Mapping[str, object]) -> Dims | None:
    """As they stand in the source; None where they say nothing of the shape, or what they say is not known."""
    if any(isinstance(part, ast.Tuple) and not part.elts for part in parts):
        return []  # TensorType[()]: a single number
    found = [_part(part, names) for part in parts]
    return None if None in found else [dim for dim in found if dim] or None


def aliased(value: object) -> Dims | None:
    """Of a name for such an annotation."""
    for about in getattr(value, "__metadata__", ()):
        if isinstance(about, dict) and "__torchtyping__" in about:
            shapes = [
                dims for detail in about.get("details", ()) if (dims := getattr(detail, "dims", None)) is not None
            ]
            return [_sized(dim.name, dim.size) for dim in shapes[0]] if shapes else None
    return None


def _part(part: ast.expr, names: Mapping[str, object]) -> str | None:
    if isinstance(part, ast.Slice):
        return _sized(_value(part.lower, names), _value(part.upper, names))
    if isinstance(part, ast.Attribute):
        return ANY if part.attr == "Any" else SKIP if ast.unparse(part).startswith("torch.") else None
    if isinstance(part, ast.Name) and part.id not in names:
        return SKIP if part.id in ("float", "int", "bool") else None
    value = _value(part, names)
    if value is None or value is Any:
        return ANY
    return _sized(None, value) if isinstance(value, (int, str)) or value is ... else SKIP


def _value(node: ast.expr | None, names: Mapping[str, object]) -> Any:
    if isinstance(node, ast.Name):
        return names.get(node.id)
    try:
        return ast.literal_eval(node) if node is not None else None
    except ValueError:
        return None


def _sized(name: Any, size: Any) -> str:
    if size is ...:
        return "..."
    named = isinstance(name, str)
    if isinstance(size, int) and size >= 0:
        return f"{name}={size}" if named else str(size)
    return size if isinstance(size, str) else name if named else ANY
