"""Shapes as a text: "B T 80, B T -> B (h d)".

Tensors are separated by commas, dimensions by blanks. A number is that size; a name has one size throughout; `_` is any
size; `...` or `*name` any number of dimensions; `(h d)` a product, as in einops; `()` a tensor without dimensions.
As in jaxtyping, `#name` may also be 1, and `name=4` is 4.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paramedic.errors import ParamedicError

_DIMENSION = re.compile(r"\([^()]*\)|\S+")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
Shape = Sequence[int]


class ContractBroken(Exception):
    """What does not fit, in words."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The first shape that does not fit."""

    place: str  # "input", "output", "input 1" …
    dims: list[str]
    shape: tuple[int, ...]
    words: str


class Contract:
    """Shapes that a function promises for its inputs and outputs."""

    def __init__(self, text: str) -> None:
        self.text = text
        inputs, arrow, outputs = text.partition("->")
        if not arrow:
            raise ParamedicError(
                f"the contract {text!r} has no arrow", expected="inputs -> outputs", fix='"B T -> B C"'
            )
        self.inputs, self.outputs = _tensors(inputs), _tensors(outputs)

    def check(self, given: Sequence[Shape], returned: Sequence[Shape], sizes: Mapping[str, int] | None = None) -> None:
        """Raises ContractBroken at the first shape that does not fit."""
        found = self.broken(given, returned, sizes)
        if found is not None:
            declared = " ".join(found.dims) or "()"
            raise ContractBroken(f"{found.place} {found.shape} is declared {declared!r}: {found.words}")

    def broken(
        self, given: Sequence[Shape], returned: Sequence[Shape], sizes: Mapping[str, int] | None = None
    ) -> Broken | None:
        """The first shape that does not fit. Tensors beyond the contract's are passed over."""
        known = dict(sizes or {})
        for word, wanted, found in (("input", self.inputs, given), ("output", self.outputs, returned)):
            for number, dims in enumerate(wanted):
                place = word if len(wanted) == 1 else f"{word} {number}"
                if number >= len(found):
                    return Broken(place, dims, (), f"only {len(found)} tensors were seen")
                words = fit(dims, found[number], known)
                if words:
                    return Broken(place, dims, tuple(found[number]), words + sizes_in_words(known))
        return None


def fit(dims: Sequence[str], shape: Shape, known: dict[str, int]) -> str:
    """What does not fit, empty if all does. Names get their size where they come first."""
    spread = [n for n, dim in enumerate(dims) if dim == "..." or dim.startswith("*")]
    if spread:
        at, behind = spread[0], len(dims) - spread[0] - 1
        if len(shape) < len(dims) - 1:
            return f"{len(shape)} dimensions instead of at least {len(dims) - 1}"
        ends = (*dims[:at], *dims[at + 1 :])
        return fit(ends, (*shape[:at], *shape[len(shape) - behind :]), known)
    if len(dims) != len(shape):
        return f"{len(shape)} dimensions instead of {len(dims)}"
    for number, (dim, size) in enumerate(zip(dims, shape, strict=True)):
        misfit = _misfit(dim.rpartition("=")[2], size, known)
        if misfit:
            return f"dimension {number} ({dim}) is {size} {misfit}"
    return ""


def _misfit(dim: str, size: int, known: dict[str, int]) -> str:
    """Why this size is not that of the dimension; empty if it is. A name that is new gets the size."""
    if dim.startswith("("):
        return _product_misfit(dim, size, known)
    if dim.startswith("#"):
        return "" if size == 1 else _misfit(dim[1:], size, known)
    wanted = size
    if dim.isdigit():
        wanted = int(dim)
    elif _NAME.fullmatch(dim):
        wanted = known.setdefault(dim, size)
    return f"instead of {wanted}" if wanted != size else ""


def _product_misfit(dim: str, size: int, known: dict[str, int]) -> str:
    parts = _DIMENSION.findall(dim[1:-1])
    fixed = {part: int(part) if part.isdigit() else known[part] for part in parts if part.isdigit() or part in known}
    unknown, product = [part for part in parts if part not in fixed], math.prod(fixed.values())
    if not unknown:
        return f"instead of {product}" if product != size else ""
    if len(unknown) == 1 and product and size % product == 0:
        known[unknown[0]] = size // product
    return f"and no multiple of {product}" if product and size % product else ""


def sizes_in_words(known: Mapping[str, int]) -> str:
    return f" ({', '.join(f'{name} = {size}' for name, size in known.items())})" if known else ""


def _tensors(text: str) -> list[list[str]]:
    if not text.strip():
        return []
    tensors = [_DIMENSION.findall(part) for part in re.split(r",(?![^()]*\))", text)]
    return [[] if dims == ["()"] else dims for dims in tensors]
