"""The ways to compute a summary that this machine can run; every one must pass the same tests."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest
import torch

from paramedic.capture.stats import portable

from .reference import Engine


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

    if torch.cuda.is_available():
        on_gpu = torch.full_like(out, -7.0, device="cuda")
        reasons = module.summarise_into([tensor.cuda() for tensor in tensors], on_gpu, **options)
        out.copy_(on_gpu)
        return reasons
    return module.summarise_into(tensors, out, **options)


def _fused_runs() -> bool:
    try:
        import triton  # noqa: F401
    except ImportError:
        return False
    return torch.cuda.is_available() or os.environ.get("TRITON_INTERPRET") == "1"


ENGINES: list[Engine] = [host, device, *([fused] if _fused_runs() else [])]
each_engine = pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.__name__)
