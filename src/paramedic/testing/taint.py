"""NaNs as a dye: the first module whose output for one sample is coloured by the others."""

from __future__ import annotations

import contextlib
from typing import Any

import torch
from torch import nn

from paramedic.aliases import Args
from paramedic.program.tensors import tensors_in
from paramedic.testing.changing import Batch, changed, frozen_run


def tainted_by(model: nn.Module, batch: Batch, size: int, index: int, *, after: int | None = None) -> str | None:
    """The path of the first module, innermost, that carries NaNs into `index`; None when they meet outside of modules.

    With `after`, places of dimension 1 behind it are dyed instead of other samples; those up to it must stay clean.
    """
    names = {module: path for path, module in model.named_modules()}
    found: list[str] = []

    def is_kept(tensor: torch.Tensor) -> torch.Tensor | None:
        """The part that must stay clean, where it can be told."""
        if after is not None:
            fits = tensor.dim() > 1 and tensor.shape[1] == size
            return tensor[:, : after + 1] if fits else None
        return tensor[index] if tensor.dim() > 0 and len(tensor) == size else None

    def dyed(tensor: torch.Tensor) -> torch.Tensor:
        if not tensor.dtype.is_floating_point or is_kept(tensor) is None:
            return tensor
        fresh = torch.full_like(tensor, float("nan"))
        if after is not None:
            fresh[:, : after + 1] = tensor[:, : after + 1]
        else:
            fresh[index] = tensor[index]
        return fresh

    def note(module: nn.Module, args: Args, output: object) -> object:
        if isinstance(module, nn.Embedding) and isinstance(output, torch.Tensor):
            return dyed(output)  # whole numbers cannot be dyed; what is looked up for them can
        if not found and _is_dyed(output, is_kept) and not _is_dyed(args, is_kept):
            found.append(names[module])
        return None

    hooks = [module.register_forward_hook(note) for module in names if module is not model]
    try:
        with contextlib.suppress(Exception):
            frozen_run(model, changed(batch, dyed))
    finally:
        for hook in hooks:
            hook.remove()
    return found[0] if found else None


def _is_dyed(value: object, kept: Any) -> bool:
    parts = [kept(t) for _, t in tensors_in(value) if t.dtype.is_floating_point]
    return any(part is not None and bool(torch.isnan(part).any()) for part in parts)
