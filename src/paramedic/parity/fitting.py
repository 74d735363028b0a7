"""Tensors of two frameworks laid beside each other: channels first or last, sequence first or batch first."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch

from paramedic.parity.measure import APART, Difference, difference

Rearrange = Callable[[torch.Tensor], torch.Tensor]


def arrangements(tensor: torch.Tensor) -> Iterator[Rearrange]:
    """The ways in which frameworks order the axes of one activation."""
    yield lambda t: t
    if tensor.dim() >= 3:
        yield lambda t: t.movedim(-1, 1)  # channels last to channels first
        yield lambda t: t.movedim(1, -1)
        yield lambda t: t.transpose(0, 1)  # sequence first to batch first
    yield lambda t: t.squeeze()


def fit(mine: torch.Tensor, other: torch.Tensor, *, crossing: bool) -> tuple[Difference, Rearrange]:
    """The difference, and how `other` was rearranged for it. Within one framework, axes mean what they say."""
    best: tuple[Difference, Rearrange] = (APART, lambda t: t)
    for rearrange in arrangements(other) if crossing else [lambda t: t]:
        moved = rearrange(other)
        if moved.shape != mine.shape and moved.squeeze().shape == mine.squeeze().shape and crossing:
            moved = moved.reshape(mine.shape)
        if moved.shape != mine.shape:
            continue
        found = difference(mine, moved)
        if found.relative < best[0].relative or best[0] is APART:
            best = (found, rearrange)
    return best


def like(mine: torch.Tensor, other: torch.Tensor, *, crossing: bool) -> torch.Tensor | None:
    """`other` in the axes of `mine`, or None where they cannot be the same thing."""
    _found, rearrange = fit(mine, other, crossing=crossing)
    moved = rearrange(other)
    if moved.numel() != mine.numel() or (moved.shape != mine.shape and not crossing):
        return None
    return moved.reshape(mine.shape)


def channels_as_in(tensor: torch.Tensor, wanted: tuple[int | None, ...]) -> torch.Tensor:
    """An input with its channels last, where only that has the wanted shape."""
    moved = tensor.movedim(1, -1) if tensor.dim() >= 3 else tensor
    return moved if not _fits(tensor.shape, wanted) and _fits(moved.shape, wanted) else tensor


def _fits(shape: torch.Size, wanted: tuple[int | None, ...]) -> bool:
    return len(shape) == len(wanted) and all(w in (None, s) for s, w in zip(shape, wanted, strict=True))
