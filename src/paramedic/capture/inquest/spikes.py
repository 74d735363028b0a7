"""Where it was asked for: a step whose loss or gradient stands out is kept as a bundle, and training goes on."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from statistics import median

import torch

from paramedic.capture.facts import local
from paramedic.record.writer import Site

FEWEST = 20  # backward passes before anything can be called unusual
REMEMBERED = 64
SPREADS = 10.0  # above the usual value, in units of how much the values vary
ABOVE_ALL = 1.5  # times the largest one that is remembered
MOST = 3  # bundles per run


class Spikes:
    """Remembers the last losses and gradient norms of each backward() in the script."""

    def __init__(self) -> None:
        self._before: dict[tuple[Site, str], deque[float]] = {}
        self.kept = 0

    def look(self, site: Site, loss: float | None, norm: float | None) -> str:
        """What stands out about this backward pass, in words; nothing if nothing does."""
        found = ""
        for name, value in (("the loss", loss), ("the gradient norm", norm)):
            if value is None or not math.isfinite(value):
                continue  # a matter for the alarm
            before = self._before.setdefault((site, name), deque(maxlen=REMEMBERED))
            if not found and self.kept < MOST and stands_out(value, before):
                found = f"{name} is {value:.4g}, and {median(before):.4g} is usual"
            before.append(value)
        self.kept += bool(found)
        return found


def stands_out(value: float, before: Sequence[float]) -> bool:
    """Far above what is usual, as measured by how much that varies, and above all that is remembered."""
    if len(before) < FEWEST:
        return False
    usual = median(before)
    spread = 1.4826 * median(abs(one - usual) for one in before)  # a standard deviation that outliers cannot move
    return value > usual + SPREADS * spread and value > ABOVE_ALL * max(map(abs, before))


def norm_of(gradients: Sequence[torch.Tensor]) -> float | None:
    """The norm of all gradients together; waits for an accelerator."""
    parts = [local(g) for g in gradients]
    plain = [g for g in parts if g.layout is torch.strided and g.dtype.is_floating_point and not g.is_meta]
    norms = [float(torch.linalg.vector_norm(gradient.detach(), dtype=_wide(gradient))) for gradient in plain]
    return math.hypot(*norms) if norms else None


def _wide(gradient: torch.Tensor) -> torch.dtype:
    return torch.promote_types(gradient.dtype, torch.float32)
