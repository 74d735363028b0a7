"""Names for dimensions, found by varying them: what grows with the batch is the batch."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from paramedic.program.tensors import tensors_in

Shape = tuple[int, ...]
Seen = dict[Hashable, list[Shape]]  # by place: the shapes seen there, in order
Batch = tuple[tuple[Any, ...], dict[str, Any]]
NAMES = {  # by the rank of an input and its dimension
    (2, 1): "seq", (3, 1): "seq", (4, 2): "height", (4, 3): "width", (5, 2): "depth", (5, 3): "height", (5, 4): "width",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Symbol:
    """A dimension of the inputs that may have another size."""

    name: str
    size: int
    other: int  # the size it was given instead
    seen: Seen


def find_symbols(batch: Batch, observe: Callable[[Batch], Seen]) -> tuple[Seen, list[Symbol]]:
    """The shapes of a run, and of one more run for each dimension that can be varied."""
    base = observe(batch)
    found: list[Symbol] = []
    for name, dim, size in _candidates(batch):
        for other in (size + 1,) if name == "batch" else (2 * size, max(size // 2, 1)):
            try:
                seen = observe(_resized(batch, name, dim, size, other))
            except Exception:  # this dimension is what the model was built for
                continue
            if {key: len(shapes) for key, shapes in seen.items()} == {key: len(shapes) for key, shapes in base.items()}:
                found.append(Symbol(name, size, other, seen))
            break
    return base, found


def named(base: Seen, symbols: list[Symbol]) -> dict[Hashable, list[tuple[str, ...]]]:
    """The shapes with names where they depend on something, and with numbers elsewhere."""
    return {
        key: [
            tuple(_word(size, dim, [(s, s.seen[key][number]) for s in symbols]) for dim, size in enumerate(shape))
            for number, shape in enumerate(shapes)
        ]
        for key, shapes in base.items()
    }


def text(dims: tuple[str, ...]) -> str:
    return f"({', '.join(dims)}{',' if len(dims) == 1 else ''})"


def _word(size: int, dim: int, runs: list[tuple[Symbol, Shape]]) -> str:
    moved = [(symbol, shape[dim]) for symbol, shape in runs if dim < len(shape) and shape[dim] != size]
    if not moved:
        return str(size)
    if len(moved) == 1:
        symbol, after = moved[0]
        return _one(size, after, symbol)
    product = 1
    for symbol, after in moved:
        if size * symbol.other != after * symbol.size:
            return str(size)
        product *= symbol.size
    names = "·".join(symbol.name for symbol, _ in moved)
    return _scaled(names, size, product) or str(size)


def _one(size: int, after: int, symbol: Symbol) -> str:
    if size * symbol.other == after * symbol.size:
        return _scaled(symbol.name, size, symbol.size) or str(size)
    if size - symbol.size == after - symbol.other:
        return f"{symbol.name}{size - symbol.size:+d}"
    return f"{symbol.name}→{size}"


def _scaled(name: str, size: int, base: int) -> str | None:
    if size == base:
        return name
    if size % base == 0:
        return f"{size // base}·{name}"
    return f"{name}/{base // size}" if size and base % size == 0 else None


def _candidates(batch: Batch) -> list[tuple[str, int, int]]:
    """Name, dimension and size, each once: inputs that share a size in a dimension vary together."""
    found: dict[tuple[str, int], tuple[str, int, int]] = {}
    for _, tensor in tensors_in(batch):
        for dim, size in enumerate(tensor.shape):
            name = "batch" if dim == 0 else NAMES.get((tensor.dim(), dim), "")
            if (name and size > 1) or name == "batch":
                found.setdefault((name, size), (name, dim, size))
    return list(found.values())


def _resized(batch: Batch, name: str, dim: int, size: int, other: int) -> Batch:
    """All inputs that have this size in this dimension, made longer by repetition, or cut."""

    def change(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if value.dim() <= dim or value.shape[dim] != size:
                return value
            indices = torch.arange(other, device=value.device) % size
            return value.index_select(dim, indices)
        if isinstance(value, Mapping):
            return {key: change(item) for key, item in value.items()}
        return type(value)(change(item) for item in value) if type(value) in (list, tuple) else value

    args, kwargs = batch
    return tuple(change(item) for item in args), {key: change(item) for key, item in kwargs.items()}
