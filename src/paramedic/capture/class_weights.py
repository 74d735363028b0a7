"""The weights of classes that a loss is given."""

from __future__ import annotations

import torch

from paramedic.aliases import Kwargs

FEW = 20


def class_weights(given: Kwargs) -> torch.Tensor:
    """Those of a few classes, else none; a binary loss weights its positive class alone."""
    positive, weight = given.get("pos_weight"), given.get("weight")
    if isinstance(positive, torch.Tensor) and positive.numel() == 1:
        one = positive.detach().reshape(1).float()
        return torch.cat([torch.ones_like(one), one])
    if positive is None and isinstance(weight, torch.Tensor) and weight.dim() == 1 and 1 < weight.numel() <= FEW:
        return weight.detach().float()
    return torch.zeros(0)


def leaves_classes_out(weight: torch.Tensor | None) -> bool:
    """Whether a class may count for nothing, which is another way to ignore padding."""
    return weight is not None and (weight.device.type != "cpu" or not bool(weight.all()))
