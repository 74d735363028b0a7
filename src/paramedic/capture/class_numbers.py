"""Numbers that stand for classes."""

from __future__ import annotations

import torch

from paramedic.capture.facts import readable

MOST_CLASSES, MOST_VALUES = 100, 10_000


def classes(values: torch.Tensor) -> int | None:
    """How many classes these numbers are: 0, 1, 2 and so on, each of them there; None where they are something else."""
    if not readable(values) or values.device.type != "cpu" or not 8 <= values.numel() <= MOST_VALUES:
        return None
    found = values.detach().unique()
    count = found.numel()
    if not 3 <= count <= MOST_CLASSES or not torch.equal(found.double(), torch.arange(count, dtype=torch.float64)):
        return None
    return count
