"""Describe a tensor: what it is without touching its values, and what its values are in one small tensor."""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
import torch
from torch import nn

from paramedic.capture.stats.layout import flatten, pieces
from paramedic.record.facts import Tensor

PIECE = 1 << 18  # elements that are copied at a time
LARGE = 64 << 20  # bytes of a tensor that is not gone through as a whole
MOST_VALUES = 4_000_000  # larger tensors are described by their first samples
# Looked up once: a model may have thousands of tensors.
_PLAIN, _STRIDED, _is_transformed = (
    (torch.Tensor, nn.Parameter),
    torch.strided,
    torch._C._functorch.is_functorch_wrapped_tensor,
)
_NOT_REAL = frozenset((
    torch.complex32, torch.complex64, torch.complex128, torch.qint8, torch.quint8, torch.qint32, torch.quint4x2,
    torch.quint2x4,
))  # fmt: skip
VALUE_NAMES = ("min", "max", "mean", "std", "nan", "inf", "size")


def describe(tensor: torch.Tensor, **more: Any) -> Tensor:
    """Shape, type and place; free of any read of the values."""
    return Tensor(
        shape=[tensor.size(0)] if tensor.is_nested else list(tensor.shape),
        dtype=str(tensor.dtype).removeprefix("torch."),
        device=tensor.device.type,
        requires_grad=tensor.requires_grad,
        grad_fn=type(tensor.grad_fn).__name__ if tensor.grad_fn is not None else None,
        **more,
    )


def local(tensor: torch.Tensor) -> torch.Tensor:
    """This rank's part of a sharded tensor: any operation on the whole might make the ranks exchange it."""
    return tensor._local_tensor if type(tensor).__name__ == "DTensor" else tensor


def readable(tensor: torch.Tensor) -> bool:
    """Whether plain arithmetic on the values is possible and cheap."""
    return (
        type(tensor) in _PLAIN
        and tensor.layout is _STRIDED
        and tensor.dtype not in _NOT_REAL
        and not tensor.is_meta
        and not tensor.is_nested
        and not _is_transformed(tensor)  # inside vmap or grad: it has no values yet
        and tensor.numel() > 0
    )


def own_parameters(module: nn.Module) -> dict[str, nn.Parameter]:
    """Those of the module itself; its `parameters()` may be the user's, with other arguments."""
    return {name: p for name, p in module._parameters.items() if p is not None}


def address(tensor: torch.Tensor) -> int:
    """Where its values lie; of a tensor without memory of its own (inside a transform), something unique."""
    try:
        return tensor.data_ptr()
    except RuntimeError:
        return -id(tensor)


def sample(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor itself, or its first rows when it is huge."""
    tensor = tensor.detach()
    if tensor.numel() > MOST_VALUES and tensor.dim() > 0:
        rows = max(1, tensor.shape[0] * MOST_VALUES // tensor.numel())
        tensor = tensor[:rows]
    return tensor


def some_values(tensor: torch.Tensor, most: int) -> torch.Tensor:
    """A copy of at most so many elements, spread over the tensor; never of more, however it lies in memory."""
    flat, _ = flatten(tensor.detach())
    while flat.dim() > 1:  # it has gaps: to flatten it would be to copy it
        flat = flat[0]
    return flat[:: -(-flat.numel() // most)].clone()


def wide(tensor: torch.Tensor) -> torch.Tensor:
    """In the widest float type that the device has."""
    return tensor.to(torch.float32 if tensor.device.type == "mps" else torch.float64)


def values(tensor: torch.Tensor) -> torch.Tensor:
    """The numbers named in VALUE_NAMES, on the tensor's device. Non-finite values are counted and left out."""
    x, floats = sample(tensor), tensor.dtype.is_floating_point
    if x.device.type == "cpu":
        return _values_on_host(x)
    low, high, total, nan, inf, finite = _counted(wide(x), floats)
    count = finite.clamp(min=1)
    mean = total / count
    size = torch.full((), x.numel(), device=x.device)
    return torch.stack([low, high, mean, (_squares(wide(x), mean) / count).sqrt(), nan, inf, size.to(mean)])


def _values_on_host(x: torch.Tensor) -> torch.Tensor:
    """The same in NumPy, whose calls take a fraction of torch's on tensors as small as most are.

    A large tensor goes through in pieces: copies of it could be what memory has no room for.
    """
    low, high, total, nan, inf = math.inf, -math.inf, 0.0, 0, 0
    for part in pieces(x, PIECE):
        known, bad, endless = _finite(part)
        nan, inf = nan + bad, inf + endless
        if known.size:
            low, high, total = min(low, known.min()), max(high, known.max()), total + known.sum()
    count = max(x.numel() - nan - inf, 1)
    mean, spread = total / count, 0.0
    for part in pieces(x, PIECE):
        off = _finite(part)[0] - mean
        spread += np.dot(off, off)
    return torch.tensor([low, high, mean, math.sqrt(spread / count), nan, inf, x.numel()], dtype=torch.float64)


def _finite(part: torch.Tensor) -> tuple[np.ndarray[Any, np.dtype[np.float64]], int, int]:
    """What is finite, and how many are NaN and infinite."""
    x = wide(part).resolve_neg().numpy()
    finite = np.isfinite(x)
    if finite.all():
        return x, 0, 0
    nan = int(np.isnan(x).sum())
    return x[finite], nan, int(x.size - finite.sum()) - nan


def _counted(x: torch.Tensor, floats: bool) -> torch.Tensor:
    """The lowest, the highest and the sum of what is finite; how many are NaN, infinite and finite."""
    finite = torch.isfinite(x)
    none = torch.zeros((), dtype=torch.int64, device=x.device)
    nan, inf = (torch.isnan(x).sum(), torch.isinf(x).sum()) if floats else (none, none)
    low = torch.where(finite, x, float("inf")).min()
    high = torch.where(finite, x, float("-inf")).max()
    total = torch.where(finite, x, 0.0).sum()
    return torch.stack([low, high, total, nan.to(x), inf.to(x), finite.sum().to(x)])


def _squares(x: torch.Tensor, mean: torch.Tensor) -> torch.Tensor:
    return (torch.where(torch.isfinite(x), x - mean, 0.0) ** 2).sum()


def content_hash(tensor: torch.Tensor) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for piece in pieces(tensor.detach(), PIECE):
        digest.update(piece.contiguous().view(torch.uint8).numpy())
    return digest.hexdigest()


def same_up_to_ones(a: torch.Tensor, b: torch.Tensor) -> bool:
    """(N, 1) and (N,): the same values in shapes that only broadcasting can reconcile."""
    squeezed = [size for size in a.shape if size != 1]
    return bool(squeezed) and squeezed == [size for size in b.shape if size != 1]
