"""Patterns of einops with their sizes: "b (h w) c" on (8, 10, 4) is b = 8, (h w) = 10, c = 4."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping, Sequence

_AXIS = re.compile(r"\([^()]*\)|\.\.\.|…|\w+")


def explain_pattern(pattern: str, shape: Sequence[int], given: Mapping[str, int]) -> str:
    """What each axis of the left side is here, and which one does not fit."""
    axes = _AXIS.findall(pattern.partition("->")[0])
    spread = [n for n, axis in enumerate(axes) if axis in ("...", "…")]
    if spread:
        more = len(shape) - (len(axes) - 1)
        axes[spread[0] : spread[0] + 1] = ["_"] * max(more, 0)
    if len(axes) != len(shape):
        wanted = " ".join(_AXIS.findall(pattern.partition("->")[0]))
        return f"{wanted!r} has {len(axes)} dimensions, the tensor {tuple(shape)} has {len(shape)}"
    pairs = [(axis, size) for axis, size in zip(axes, shape, strict=True) if axis != "_"]
    told = ", ".join(f"{axis} = {size}" for axis, size in pairs)
    sizes = {axis: size for axis, size in pairs if not axis.startswith("(")} | dict(given)
    return f"{told}{''.join(_conflict(axis, size, sizes) for axis, size in pairs)}"


def given_sizes(text: str) -> dict[str, int]:
    """The sizes in einops's message: {'h': 4}."""
    found = ast.literal_eval(text)
    return {str(name): int(size) for name, size in found.items()} if isinstance(found, dict) else {}


def _conflict(axis: str, size: int, sizes: Mapping[str, int]) -> str:
    if not axis.startswith("("):
        wanted = int(axis) if axis.isdigit() else sizes.get(axis, size)
        return f"; but {axis} should be {wanted}" if wanted != size else ""
    parts = axis[1:-1].split()
    known = {part: int(part) if part.isdigit() else sizes[part] for part in parts if part.isdigit() or part in sizes}
    product = math.prod(known.values())
    words = " · ".join(f"{part} = {value}" for part, value in known.items())
    if len(known) == len(parts) and product != size:
        return f"; but with {words}, {axis} is {product}"
    return f"; {size} cannot be divided by {words}" if product and size % product else ""
