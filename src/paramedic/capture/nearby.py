"""An accelerator's values in ordinary memory, where waiting for them is allowed."""

from __future__ import annotations

import torch

from paramedic.capture.watcher import Watcher

MOST_BYTES = 16 << 20  # of a tensor that is copied


def nearby(watcher: Watcher, tensor: torch.Tensor) -> torch.Tensor | None:
    """The tensor, or while examining a copy of it in ordinary memory; None where there can be none."""
    if tensor.device.type == "cpu":
        return tensor
    far = tensor.device.type == "meta" or tensor.layout != torch.strided or tensor.nbytes > MOST_BYTES
    return None if far or not watcher.gears.examining else tensor.detach().cpu()


def brought_near(watcher: Watcher, tensors: list[tuple[str, torch.Tensor]]) -> list[tuple[str, torch.Tensor]]:
    """All of them, with a copy instead of each that can be copied."""
    found = ((path, tensor, nearby(watcher, tensor)) for path, tensor in tensors)
    return [(path, tensor if near is None else near) for path, tensor, near in found]
