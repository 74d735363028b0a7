"""Tensors that may be boxes: four numbers in the last dimension."""

from __future__ import annotations

import torch

from paramedic.capture.facts import sample
from paramedic.record.facts import Boxes

MOST_EXAMPLES = 3


def boxes(tensor: torch.Tensor) -> Boxes | None:
    """How many would be empty or turned around if they were x0, y0, x1, y1; and how many as x, y, width, height."""
    if tensor.dim() < 2 or tensor.shape[-1] != 4 or not tensor.numel():
        return None
    rows = sample(tensor).reshape(-1, 4).double()
    if tensor.dim() > 2 and tensor.shape[-2] > 1:
        rows = rows[~((rows == 0) | (rows == -1)).all(1)]  # samples with fewer boxes are filled up with these
    if not len(rows):
        return None
    corners = (rows[:, 2] <= rows[:, 0]) | (rows[:, 3] <= rows[:, 1])
    sizes = (rows[:, 2] <= 0) | (rows[:, 3] <= 0)
    return Boxes(
        count=len(rows),
        bad_corners=int(corners.sum()),
        bad_sizes=int(sizes.sum()),
        negative=int((rows < 0).any(1).sum()),
        largest=float(rows.max()),
        examples=[[round(value, 2) for value in row] for row in rows[corners][:MOST_EXAMPLES].tolist()],
    )
