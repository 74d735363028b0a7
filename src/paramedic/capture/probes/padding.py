"""Padding at the end of sequences: do the labels have it where the inputs do, and does the loss know?"""

from __future__ import annotations

import torch

TAIL_NAMES = ("value", "rows", "padded_rows", "shortest", "longest", "padding", "agreeing")


def as_sequences(target: torch.Tensor, prediction: torch.Tensor) -> torch.Tensor | None:
    """The labels as (batch, time), also when they were flattened for the loss."""
    if target.dim() == 2:
        return target
    if target.dim() != 1:
        return None
    base = target._base
    if base is not None and base.dim() == 2 and base.numel() == target.numel():
        return target.reshape(base.shape)
    wide = prediction._base
    if wide is not None and wide.dim() == 3 and wide.shape[0] * wide.shape[1] == target.numel():
        return target.reshape(wide.shape[:2])
    return None


def tails(labels: torch.Tensor, inputs: torch.Tensor | None) -> torch.Tensor:
    """The numbers named in TAIL_NAMES: runs of one value at the ends of rows, and where the inputs end likewise."""
    value = labels[:, -1].mode().values
    lengths = run_at_end(labels == value)
    agreeing = torch.zeros((), device=labels.device)
    if inputs is not None and inputs.shape[0] == labels.shape[0]:
        padded = (inputs == 0).all(-1) if inputs.dim() == 3 else inputs == inputs[:, -1].mode().values
        theirs = run_at_end(padded)
        agreeing = ((lengths - theirs).abs() <= 1).logical_and(lengths > 0).logical_and(theirs > 0).sum()
    numbers = [value, lengths.new_tensor(len(lengths)), (lengths > 0).sum(), lengths.min(), lengths.max()]
    return torch.stack([n.double() for n in (*numbers, lengths.sum(), agreeing)])


def run_at_end(same: torch.Tensor) -> torch.Tensor:
    return same.long().flip(1).cumprod(1).sum(1)
