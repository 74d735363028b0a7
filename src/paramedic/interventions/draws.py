"""Batches that a script draws by itself, without a DataLoader: `x[rows]`, `x.index_select(0, rows)`, `x[i : i + 32]`.

A draw is known by its place in the source and its number since the last step. What is drawn with the same rows belongs
together, so other rows can be put in the place of the script's without knowing what they are used for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from paramedic.aliases import Args, Function, Kwargs
from paramedic.interventions.modes import take_off
from paramedic.program.where import user_frame

Part = tuple[Any, ...]
MARK = "drawn"  # the first key of a part that was drawn, not loaded
FUNCTIONS = ("__getitem__", "index_select")


@dataclass(frozen=True, slots=True)
class Draw:
    """Some rows of a tensor that holds them all."""

    part: Part
    source: torch.Tensor
    index: Any

    @property
    def rows(self) -> torch.Tensor:
        if isinstance(self.index, slice):
            return torch.arange(*self.index.indices(len(self.source)), device=self.source.device)
        return torch.as_tensor(self.index, device=self.source.device) % len(self.source)


class Draws(TorchFunctionMode):
    """Asks `drawn` for what to give to the script; its second argument gives what the script would have got."""

    def __init__(
        self, drawn: Callable[[Draw, Callable[[], torch.Tensor]], torch.Tensor], inside_model: Callable[[], bool]
    ) -> None:
        super().__init__()
        self._drawn, self._inside_model = drawn, inside_model
        self._numbers: Counter[str] = Counter()  # of draws at each place since the last step
        self._busy = False

    def __torch_function__(self, func: Function, types: object, args: Args = (), kwargs: Kwargs | None = None) -> Any:
        def usual() -> Any:
            return func(*args, **(kwargs or {}))

        if getattr(func, "__name__", "") not in FUNCTIONS or kwargs or self._busy or not torch.is_grad_enabled():
            return usual()
        source, index = args[0], _index(args)
        if not isinstance(source, torch.Tensor) or source.requires_grad or not _chooses_rows(index, source):
            return usual()
        frame = user_frame(2)
        if frame is None or self._inside_model():
            return usual()
        place = f"{frame.f_code.co_name}:{frame.f_lineno}:{frame.f_lasti}"
        self._numbers[place] += 1
        self._busy = True
        try:
            return self._drawn(Draw((MARK, place, self._numbers[place]), source, index), usual)
        finally:
            self._busy = False

    def stepped(self) -> None:
        self._numbers.clear()

    def leave(self) -> None:
        take_off(self)


def _index(args: Args) -> Any:
    """None where it is not the rows that are chosen."""
    if len(args) == 3:
        return args[2] if args[1] == 0 else None
    return args[1] if len(args) == 2 else None


def _chooses_rows(index: Any, source: torch.Tensor) -> bool:
    """At least two of them, and not all."""
    if source.dim() == 0:
        return False
    if isinstance(index, slice):
        return 2 <= len(range(*index.indices(len(source)))) < len(source)
    whole = not index.dtype.is_floating_point and index.dtype != torch.bool if isinstance(index, torch.Tensor) else (
        index.dtype.kind in "iu" if hasattr(index, "dtype") and hasattr(index, "ndim")
        else isinstance(index, list) and bool(index) and all(hasattr(i, "__index__") and i is not True for i in index)
    )  # fmt: skip
    return bool(whole) and getattr(index, "ndim", 1) == 1 and 2 <= len(index) < len(source)
