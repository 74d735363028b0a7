"""A loader that was built, and a batch that it gave, as other probes are told of them."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch.utils.data import DataLoader

from paramedic.record.writer import Site

Shapes = list[tuple[str, tuple[int, ...], str]]  # path, shape and type of each tensor of a batch


class LastBatch(NamedTuple):
    """The last batch that reached the script, as far as it can be known without keeping it alive."""

    position: int
    site: Site  # where the loader was built
    shapes: Shapes
    indices: object  # of its samples, where the loader has a sampler


class BuiltLoader(NamedTuple):
    """A loader that the script has built."""

    loader: DataLoader
    number: int | None  # in the record; None when it was never read
    site: Site
    margins: torch.Tensor | None  # sums and counts of the margins of its samples, as far as they were taken


def shapes_of(tensors: list[tuple[str, torch.Tensor]]) -> Shapes:
    return [
        (path, (t.size(0),) if t.is_nested else tuple(t.shape), str(t.dtype).removeprefix("torch."))
        for path, t in tensors[:4]
    ]
