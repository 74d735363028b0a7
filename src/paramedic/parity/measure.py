"""How far two tensors are apart: one number that knows about order, sign and scale, and where it is worst."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

TINY = 1e-30


@dataclass(frozen=True, slots=True)
class Difference:
    """Of two tensors of one shape; tensors of different shapes are infinitely far apart."""

    relative: float  # norm of the difference by the larger norm
    largest: float  # absolute
    index: tuple[int, ...] = ()  # of the largest


SAME = Difference(0.0, 0.0)
APART = Difference(math.inf, math.inf)


def difference(a: torch.Tensor, b: torch.Tensor, *, scale: float = 0.0) -> Difference:
    """NaN equals NaN, and an infinity itself. With `scale`, norms below it count as that large."""
    if a.shape != b.shape:
        return APART
    if a.numel() == 0:
        return SAME
    if not (a.is_floating_point() and b.is_floating_point()):
        off = (a != b).double()
        return Difference(float(off.mean()), float(off.max()), _index(off))
    a, b = a.double(), b.double()
    bad = ~(torch.isfinite(a) & torch.isfinite(b))
    if bool(bad.any()):
        alike = (a == b) | (torch.isnan(a) & torch.isnan(b))
        if not bool(alike[bad].all()):
            return Difference(math.inf, math.inf, _index((bad & ~alike).double()))
        a, b = a.masked_fill(bad, 0.0), b.masked_fill(bad, 0.0)
    gap = a - b
    size = max(float(a.norm()), float(b.norm()), scale, TINY)
    return Difference(float(gap.norm()) / size, float(gap.abs().max()), _index(gap.abs()))


def worst(parts: list[Difference]) -> Difference:
    return max(parts, key=lambda part: part.relative, default=SAME)


def _index(gaps: torch.Tensor) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(int(gaps.argmax()), tuple(gaps.shape)))
