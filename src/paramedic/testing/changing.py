"""Run a model again on changed inputs, with nothing else changed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from paramedic.program.tensors import tensors_in
from paramedic.testing.restore import seed_all

Batch = tuple[tuple[Any, ...], dict[str, Any]]


def frozen_run(model: nn.Module, batch: Batch, seed: int = 0) -> list[torch.Tensor]:
    """The floating point outputs in evaluation mode, always with the same random numbers."""
    seed_all(seed)
    model.eval()
    args, kwargs = batch
    with _no_fast_path():
        output = model(*args, **kwargs)
    return [t.detach().clone() for _, t in tensors_in(output) if t.dtype.is_floating_point]


@contextlib.contextmanager
def _no_fast_path() -> Iterator[None]:
    """The fused attention of inference rounds differently from batch to batch."""
    backend = torch.backends.mha
    before = backend.get_fastpath_enabled()
    backend.set_fastpath_enabled(False)
    try:
        yield
    finally:
        backend.set_fastpath_enabled(before)


def noise_floor(model: nn.Module, batch: Batch, first: list[torch.Tensor]) -> float:
    """The difference that is allowed: none where runs repeat exactly, else three times what two of them differ by."""
    return 3 * max((distance(a, b) for a, b in zip(first, frozen_run(model, batch), strict=True)), default=0.0)


def distance(a: torch.Tensor, b: torch.Tensor) -> float:
    """The largest difference; 0 where both are the same, NaN and infinities included."""
    if torch.equal(torch.nan_to_num(a), torch.nan_to_num(b)) and torch.equal(torch.isnan(a), torch.isnan(b)):
        return 0.0
    gap = float((a.double() - b.double()).abs().max())
    return gap if gap == gap else float("inf")


def changed(batch: Batch, change: Callable[[torch.Tensor], torch.Tensor]) -> Batch:
    """The batch with `change(tensor)` instead of each tensor."""
    args, kwargs = batch
    return tuple(_each(item, change) for item in args), {key: _each(item, change) for key, item in kwargs.items()}


def _each(value: object, change: Callable[[torch.Tensor], torch.Tensor]) -> object:
    if isinstance(value, torch.Tensor):
        return change(value.clone())
    if isinstance(value, dict):
        return {key: _each(item, change) for key, item in value.items()}
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(_each(item, change) for item in value)
    return value
