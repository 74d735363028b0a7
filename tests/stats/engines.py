"""The ways to compute a summary that this machine can run; every one must pass the same tests."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest
import torch

from paramedic.capture.stats import layout, portable

from .reference import Engine


def host(tensors: Sequence[torch.Tensor], out: torch.Tensor, **options: int) -> list[str | None]:
    return portable.summarise_into(tensors, out, **options)


def device(tensors: Sequence[torch.Tensor], out: torch.Tensor, **options: int) -> list[str | None]:
    """What runs on devices without kernels of their own; it is plain torch, so the host can try it."""
    reasons: list[str | None] = [portable.why_not(tensor, out.device) for tensor in tensors]
    ready = [(place, tensor) for place, tensor in enumerate(tensors) if reasons[place] is None]
    with portable.undisturbed("cpu"):
        failed = portable._on_device(ready, out, options.get("seen", layout.SEEN_ON_HOST))
    for place, reason in enumerate(reasons):
        reasons[place] = reason or failed.get(place)
        if reasons[place]:
            out[place].fill_(float("nan"))
    return reasons


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
