"""Bug or rounding: what a difference may be at most, derived from the precision that both sides computed in."""

from __future__ import annotations

import torch

from paramedic.parity.trace import Trace

EXACT = 1e-10  # relative, in float64: a million roundings fit below it, no change of a formula does
SINGLE = 5e-7  # relative: a constant that was held in float32, such as a table of positions


def tolerance(a: Trace, b: Trace, noise: float = 0.0) -> float:
    """With float64 on both sides a difference of 1e-10 is real; otherwise a multiple of the coarser side's rounding."""
    if a.double and b.double:
        return EXACT
    coarsest = max(torch.finfo(trace.dtype).eps for trace in (a, b) if not trace.double)
    return max(16 * coarsest, 10 * noise)


def is_constant(relative: float) -> bool:
    """Whether a difference found in float64 is of the size of a constant rounded to float32."""
    return relative < SINGLE
