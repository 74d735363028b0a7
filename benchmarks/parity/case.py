"""One planted difference, and how an answer is marked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

Made = tuple[Any, Any, Any]  # a, b, inputs


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """`layers` are the names, on either side, that count as right; `cause` are words that must be in what is said."""

    name: str
    architecture: str
    pair: str
    make: Callable[[], Made]
    layers: tuple[str, ...]
    cause: tuple[str, ...]  # each may hold alternatives: "eps|epsilon"


def settled(model: nn.Module, seed: int = 0) -> nn.Module:
    """Statistics and scales as after some training, so that everything matters."""
    random = torch.Generator().manual_seed(seed)
    for module in model.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.running_mean.normal_(generator=random)
            module.running_var.uniform_(0.01, 0.2, generator=random)
        if isinstance(module, nn.modules.batchnorm._BatchNorm | nn.LayerNorm):
            module.weight.data.uniform_(0.5, 1.5, generator=random)
            module.bias.data.normal_(0, 0.3, generator=random)
    return model.eval()


def twins(make: Callable[..., nn.Module], **fault: Any) -> tuple[nn.Module, nn.Module]:
    """The model, and the same weights in the version with the fault."""
    torch.manual_seed(0)
    good = settled(make())
    bad = make(**fault)
    bad.load_state_dict(good.state_dict())
    return good, bad.eval()


def images(channels: int = 3, size: int = 8, batch: int = 2) -> torch.Tensor:
    return torch.randn(batch, channels, size, size, generator=torch.Generator().manual_seed(1))


def ids(below: int, length: int = 9, batch: int = 3) -> torch.Tensor:
    return torch.randint(1, below, (batch, length), generator=torch.Generator().manual_seed(1))


def padded(below: int) -> torch.Tensor:
    found = ids(below)
    found[0, 6:] = 0
    found[1, 4:] = 0
    return found
