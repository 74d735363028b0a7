"""Whether many tensors are finite everywhere, in as few calls as possible: this is asked at most steps."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch

from paramedic.capture.facts import local
from paramedic.capture.inquest.tracer import look

PLAIN = (torch.Tensor, torch.nn.Parameter)
FEW = 4
JOINED = 1 << 20  # elements that are copied to be summed in one call


def all_finite(tensors: list[torch.Tensor], *, everywhere: bool = False) -> bool:
    """One number tells whether any is bad; should it overflow by itself, each is looked at.

    `everywhere` means on accelerators as well, which are waited for: once each.
    """
    parts = [t if type(t) in PLAIN else local(t) for t in tensors]
    plain = [t for t in parts if type(t) in PLAIN and t.layout == torch.strided and t.dtype.is_floating_point]
    plain = [t for t in plain if t.is_cpu or (everywhere and t.device.type != "meta")]
    if not plain:
        return True
    with torch.no_grad():
        if len(plain) > FEW or not plain[0].is_cpu:
            total = sum(float(numbers.sum()) for numbers in _joined(plain))
        else:
            total = sum(float(tensor.sum()) for tensor in plain)
        return math.isfinite(total) or not any((seen := look(t)) is not None and seen.bad for t in plain)


def _joined(tensors: list[torch.Tensor]) -> Iterator[torch.Tensor]:
    """Numbers that anything bad spoils. By device; in float32 at least, since halves overflow; float64 may not be
    narrowed. Small tensors are put together as they are, which takes less time than a norm of each."""
    alike: dict[tuple[torch.device, torch.dtype], list[torch.Tensor]] = {}
    for tensor in tensors:
        alike.setdefault((tensor.device, tensor.dtype), []).append(tensor)
    for (device, dtype), some in alike.items():
        wide = torch.float64 if dtype == torch.float64 else torch.float32
        if device.type == "cpu" and len(some) * some[0].numel() <= JOINED >= sum(t.numel() for t in some):
            flat: torch.Tensor = torch._C._nn.flatten_dense_tensors(some)
            yield flat.to(wide)
        else:
            yield torch.stack(torch._foreach_norm(some, 2, wide))
