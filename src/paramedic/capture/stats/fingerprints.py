"""A number per tensor that depends on which value stands where: copies of a model on several ranks have the same ones.

Norms do not tell: values in another order, or with another sign, have the same.
"""

from __future__ import annotations

import torch
from torch import distributed

MOST_VALUES = 4096  # of one tensor, from all over it
GOLDEN = 0.6180339887498949  # multiples of it never repeat, and lie evenly between 0 and 1


def copied_on_ranks(held: list[tuple[torch.Tensor, torch.Tensor]]) -> list[torch.Tensor]:
    """Of parameters and what this rank has of them: those that every rank has as a whole."""
    if not (distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1):
        return []
    return [p for p, part in held if part is p and (p.dtype.is_floating_point or p.dtype.is_complex)]


def fingerprints(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """One element each, on the tensors' own device: nothing waits for it, and nothing is drawn at random."""
    patterns: dict[torch.device, torch.Tensor] = {}
    return [_fingerprint(tensor, patterns) for tensor in tensors]


def _fingerprint(tensor: torch.Tensor, patterns: dict[torch.device, torch.Tensor]) -> torch.Tensor:
    values = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    flat = values.detach().reshape(-1)
    flat = flat[:: -(-flat.numel() // MOST_VALUES)].float()
    if flat.device not in patterns:
        numbers = torch.arange(1, MOST_VALUES + 1, device=flat.device, dtype=torch.float32)
        patterns[flat.device] = numbers.mul_(GOLDEN).frac_().sub_(0.5)
    return (flat * patterns[flat.device][: flat.numel()]).sum()
