"""What one side did with the inputs: every layer in the order in which they ended, with what went in and came out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from paramedic.aliases import Args

Tensors = tuple[torch.Tensor, ...]


@dataclass(slots=True, kw_only=True, eq=False)
class Layer:
    """One call of a layer. `name` is its path; an operation between layers is called `path/operation`."""

    name: str
    kind: str  # as torch calls it: LayerNorm, Linear, Conv2d, gelu
    call: int = 0  # 0 for its first call
    parent: str = ""
    leaf: bool = True
    inputs: Tensors = ()
    outputs: Tensors = ()
    parameters: Mapping[str, torch.Tensor] = field(default_factory=dict)  # in torch's layout and with torch's names
    settings: Mapping[str, Any] = field(default_factory=dict)  # eps, padding …; with torch's names
    place: str = ""  # file:line of an operation
    args: Args = ()  # as they were given, of a live side
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    draws: tuple[int, int] = (0, 0)  # its share of the random draws
    is_op: bool = False
    children: list[Layer] = field(default_factory=list)

    @property
    def title(self) -> str:
        """How people are told of it."""
        shown = self.name or "the model itself"
        return shown if self.call == 0 else f"{shown} (call {self.call + 1})"


@dataclass(slots=True, kw_only=True)
class Trace:
    """A forward pass."""

    layers: list[Layer]
    outputs: Tensors
    double: bool  # computed in float64 throughout
    dtype: torch.dtype = torch.float32  # what it was computed in otherwise

    @property
    def leaves(self) -> list[Layer]:
        return [layer for layer in self.layers if layer.leaf]

    @property
    def containers(self) -> list[Layer]:
        return [layer for layer in self.layers if not layer.leaf]


def tensors_in(value: object) -> Iterator[torch.Tensor]:
    """All tensors in nested lists, tuples, mappings and dataclass-like outputs, in order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from tensors_in(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from tensors_in(part)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from tensors_in(getattr(value, name))


def replaced(value: Any, new: Iterator[torch.Tensor]) -> Any:
    """The same structure with the next tensors of `new` in place of its own."""
    if isinstance(value, torch.Tensor):
        return next(new)
    if isinstance(value, Mapping):
        parts = {name: replaced(part, new) for name, part in value.items()}
        kind: Any = type(value)  # such as the outputs of transformers
        return kind(parts)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(replaced(part, new) for part in value))
    if isinstance(value, list | tuple):
        return type(value)(replaced(part, new) for part in value)
    return value


def plain(value: torch.Tensor) -> torch.Tensor:
    """A copy that nothing can change any more."""
    return value.detach().cpu().clone()
