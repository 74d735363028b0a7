"""The statistics again, in float64, from their definitions and without haste; and random tensors to try them on."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence

import numpy as np
import torch

from paramedic.capture.stats import layout
from paramedic.record.summary import NotSummarised, Summary, from_row

Engine = Callable[..., list[str | None]]
FLOATS = [torch.float64, torch.float32, torch.bfloat16, torch.float16]
FP8 = [getattr(torch, name) for name in ("float8_e4m3fn", "float8_e5m2") if hasattr(torch, name)]


def fresh_seed() -> int:
    """A new seed each time, printed so that a failure can be had again (set STATS_SEED)."""
    seed = int(os.environ.get("STATS_SEED", 0)) or int.from_bytes(os.urandom(4), "little")
    print(f"STATS_SEED={seed}")
    torch.manual_seed(seed)
    return seed


def reference(tensor: torch.Tensor) -> Summary:
    dense = (tensor if tensor.layout is torch.strided else tensor.to_dense()).detach()
    if dense.is_complex():
        dense = dense.to(torch.complex128).abs()
    x = dense.to(torch.float64).resolve_neg().reshape(-1).numpy()
    finite = x[np.isfinite(x)]
    counts = (x.size, int(np.isnan(x).sum()), int(np.isinf(x).sum()), int((x == 0).sum()))
    if not finite.size:
        return Summary(*counts, None, None, None, None, None, 0.0, (0,) * layout.BINS)
    scale = float(np.abs(finite).max()) or 1.0
    scaled = finite.astype(np.longdouble) / scale
    return Summary(
        *counts,
        float(scaled.mean() * scale),
        float(np.sqrt(((scaled - scaled.mean()) ** 2).mean()) * scale),
        float(np.abs(finite).max()),
        float(finite.min()),
        float(finite.max()),
        float(np.sqrt((scaled**2).sum()) * scale),
        _histogram(finite),
    )


def _histogram(finite: np.ndarray) -> tuple[int, ...]:
    magnitude = np.abs(finite[finite != 0])
    exponent = np.frexp(magnitude)[1] - 1  # |x| = m * 2**e with 1 <= m < 2
    bins = 1 + np.searchsorted(np.array(layout.EDGES), exponent, side="right")
    counts = np.bincount(bins, minlength=layout.BINS)
    counts[0] = finite.size - magnitude.size
    return tuple(int(count) for count in counts)


def rows_of(tensors: Sequence[torch.Tensor], engine: Engine, **options: int) -> list[Summary | NotSummarised]:
    out = torch.full((len(tensors), layout.WIDTH), -7.0, dtype=torch.float64)  # poison: every number must be written
    reasons = engine(tensors, out, **options)
    summaries = [from_row(row) for row in out.tolist()]
    return [NotSummarised(why) if why else summary for why, summary in zip(reasons, summaries, strict=True)]


def assert_same(got: Summary | NotSummarised, want: Summary, *, eps: float, histogram: bool = True) -> None:
    """Counts and extremes to the bit; the moments to `eps`, relative to what they are sums of."""
    assert isinstance(got, Summary), got
    for name in ("count", "nan", "inf", "zeros", "absmax", "min", "max"):
        assert getattr(got, name) == getattr(want, name), (name, getattr(got, name), getattr(want, name))
    if histogram:
        assert got.histogram == want.histogram, (got.histogram, want.histogram)
    if want.mean is None or want.std is None:
        assert got.mean is None and got.std is None and got.norm == 0.0
        return
    assert got.mean is not None and got.std is not None
    spread = math.hypot(want.mean, want.std)
    assert abs(got.mean - want.mean) <= eps * spread, ("mean", got.mean, want.mean)
    # Where the mean is a million times the spread, the type itself leaves the spread no more digits than these.
    assert abs(got.std - want.std) <= 10 * eps * want.std + eps * eps * spread, ("std", got.std, want.std)
    assert got.norm == want.norm or abs(got.norm - want.norm) <= eps * want.norm, ("norm", got.norm, want.norm)


def random(size: int | tuple[int, ...], dtype: torch.dtype, *, scale: float = 1.0, shift: float = 0.0) -> torch.Tensor:
    """Numbers over several octaves, some of them exactly 0 and -0."""
    x = torch.randn(size, dtype=torch.float64) * torch.exp(torch.randn(size, dtype=torch.float64)) * scale + shift
    x = torch.where(torch.rand(size) < 0.1, 0.0, x)
    x = torch.where(torch.rand(size) < 0.05, -0.0, x)
    return x.clamp(*_range(dtype)).to(dtype)


def plant(x: torch.Tensor, nan: int, inf: int) -> torch.Tensor:
    """The tensor with NaN and Inf at random places."""
    where = torch.randperm(x.numel())[: nan + 2 * inf]
    flat = x.to(torch.float32).reshape(-1)
    flat[where[:nan]] = float("nan")
    flat[where[nan : nan + inf]] = float("inf")
    flat[where[nan + inf :]] = float("-inf")
    return flat.reshape(x.shape).to(x.dtype)


def _range(dtype: torch.dtype) -> tuple[float, float]:
    info = torch.finfo(dtype)
    return info.min, info.max
