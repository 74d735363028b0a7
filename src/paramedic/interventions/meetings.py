"""Targets of hand-written losses: tensors without a gradient that meet what a model has made.

For scripts that have neither a DataLoader nor a loss function of torch. What is meant is `prediction - y`,
`log_prob[:, y]` or `log_prob * advantage`, outside of every model; the batch that the model was given is no target, and
neither is a constant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from paramedic.interventions.modes import take_off

Change = Callable[[torch.Tensor], torch.Tensor | None]
MEETINGS = frozenset(
    ("add", "sub", "mul", "div", "true_divide", "subtract", "multiply", "__add__", "__radd__", "__sub__", "__rsub__",
     "__mul__", "__rmul__", "__truediv__", "__rtruediv__", "gather", "__getitem__", "where", "maximum", "minimum",
     "cdist")
)  # fmt: skip


class Meetings(TorchFunctionMode):
    """Puts the changed target in the place of the real one. `given` are the inputs of the last call of a model."""

    def __init__(self, change: Change, inside_model: Callable[[], bool]) -> None:
        super().__init__()
        self.given: list[torch.Tensor] = []
        self._change, self._inside_model = change, inside_model
        self._changed: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}  # since the last step

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self.given and getattr(func, "__name__", "") in MEETINGS and not self._inside_model():
            made = [arg for arg in args if isinstance(arg, torch.Tensor) and arg.requires_grad and not arg.is_leaf]
            if made and func.__name__ == "__getitem__":
                args = (args[0], self._other_index(args[1], args[0]))
            elif made:
                args = tuple(self._other(arg) if self._is_target(arg, made[0]) else arg for arg in args)
        return func(*args, **(kwargs or {}))

    def stepped(self) -> None:
        self._changed.clear()
        self.given = []

    def leave(self) -> None:
        self.given = []
        take_off(self)

    def _is_target(self, value: object, made: torch.Tensor) -> bool:
        if (
            made.dim() == 0
            or not isinstance(value, torch.Tensor)
            or value.requires_grad
            or value.dim() == 0
            or len(value) < 2
        ):
            return False
        if len(value) != len(made) or any(_shares(value, tensor) for tensor in self.given):
            return False
        return bool((value != value.flatten()[0]).any())

    def _other_index(self, index: object, made: torch.Tensor) -> Any:
        """`log_prob[:, y]` and `log_prob[arange(n), y]`: labels that are used as an index."""
        parts = index if isinstance(index, tuple) else (index,)
        labels = [p for p in parts if _is_whole(p) and self._is_target(p, made) and not _counts_up(p)]
        if not labels:
            return index
        other = tuple(self._other(part) if part is labels[-1] else part for part in parts)
        return other if isinstance(index, tuple) else other[0]

    def _other(self, target: torch.Tensor) -> torch.Tensor:
        known = self._changed.get(id(target))
        if known is None or known[0] is not target:
            known = (target, self._change(target))
            self._changed[id(target)] = known
        return known[1]


def _shares(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


def _is_whole(value: object) -> bool:
    return isinstance(value, torch.Tensor) and not value.is_floating_point() and value.dtype != torch.bool


def _counts_up(value: torch.Tensor) -> bool:
    return value.dim() == 1 and bool((value.diff() == 1).all())
