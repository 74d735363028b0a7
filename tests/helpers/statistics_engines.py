"""The ways to compute a summary that this machine can run; every one must pass the same tests."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest
import torch

from paramedic.capture.stats import portable
from statistics_reference import Engine


def host(tensors: Sequence[torch.Tensor], out: torch.Tensor, **options: int) -> list[str | None]:
    return portable.summarise_into(tensors, out, **options)


def device(tensors: Sequence[torch.Tensor], out: torch.Tensor, **options: int) -> list[str | None]:
    """What runs on devices without kernels of their own; it is plain torch, so the host can try it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(portable, "_on_host", portable._on_device)
        return portable.summarise_into(tensors, out, **options)


def fused(tensors: Sequence[torch.Tensor], out: torch.Tensor, **options: int) -> list[str | None]:
    """The GPU kernels: on a GPU, or anywhere in Triton's interpreter."""
    from paramedic.capture.stats import fused as module
    from paramedic.capture.stats.calm import undisturbed

    if not torch.cuda.is_available():
        return module.summarise_into(tensors, out, **options)
    with undisturbed():
        there = [_on_gpu(tensor) for tensor in tensors]
        rows = torch.full_like(out, -7.0, device="cuda")
    reasons = module.summarise_into(there, rows, **options)
    with undisturbed():
        out.copy_(rows)
    return reasons


def _on_gpu(tensor: torch.Tensor) -> torch.Tensor:
    """The same tensor there, with its strides and its offset; what cannot be read stays what it is."""
    if portable.why_not(tensor, torch.device("cpu")) is not None:
        return tensor
    if tensor._is_zerotensor():
        return torch._efficientzerotensor(tensor.shape, device="cuda")
    if tensor.layout is not torch.strided or tensor.is_complex() or tensor.is_neg():
        return tensor.cuda()
    memory = torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage()).cuda()
    return memory.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


def _fused_runs() -> bool:
    try:
        import triton  # noqa: F401
    except ImportError:
        return False
    return torch.cuda.is_available() or os.environ.get("TRITON_INTERPRET") == "1"


ENGINES: list[Engine] = [host, device, *([fused] if _fused_runs() else [])]
each_engine = pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.__name__)
