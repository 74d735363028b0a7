"""The two sides of a loss: are they the same tensor, does the target carry a gradient into what is being trained?"""

from __future__ import annotations

import torch

from paramedic.aliases import Fields
from paramedic.capture.facts import address, sample, wide
from paramedic.capture.graph import kinds_behind, reach
from paramedic.program.where import user_frame, variable_name

SUM_NAMES = ("target_row_min", "target_row_max", "target_row_filled")


def branches(prediction: torch.Tensor, target: torch.Tensor) -> Fields:
    """Facts that need no values."""
    same = prediction is target or (
        prediction.shape == target.shape
        and prediction.stride() == target.stride()
        and prediction.device == target.device
        and prediction.device.type != "meta"
        and address(prediction) == address(target)
    )
    if same or not target.requires_grad or not prediction.requires_grad:
        return {"same": same, "target_shares": 0}
    mine = {id(leaf) for leaf in reach(prediction.grad_fn).leaves}
    theirs = {id(leaf) for leaf in reach(target.grad_fn).leaves}
    kinds = sorted(set(kinds_behind(target.grad_fn, 16).values()))
    chosen = bool(set(kinds_behind(prediction.grad_fn, 6).values()) & {"Gather", "Index"})
    return {
        "same": False,
        "target_shares": len(mine & theirs),
        "target_kinds": kinds,
        "chosen": chosen,
        "target_name": variable_name(user_frame(), target),
    }


def row_sums(target: torch.Tensor, dimension: int) -> torch.Tensor:
    """How the targets of one sample add up, and how many are not 0, for targets that could be probabilities."""
    if not target.dtype.is_floating_point or target.dim() < 2:
        return torch.full((3,), float("nan"), device=target.device)
    rows = wide(sample(target))
    sums, filled = rows.sum(dimension), (rows != 0).sum(dimension)
    return torch.stack([sums.min(), sums.max(), filled.max().to(sums)])
