"""Tensors drawn with blocks: a histogram, and a map of a matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from paramedic.postmortem.summarize import is_tensor

BARS = "▁▂▃▄▅▆▇█"
SHADES = "·░▒▓█"
HEIGHT = 12  # rows of a map


def plot_of(value: Any, width: int) -> str:
    """Empty when there is nothing to draw."""
    if not is_tensor(value):
        return ""
    from paramedic.postmortem import tensors

    numbers = tensors.values(value)
    if numbers is None:
        return ""
    finite = [number for number in numbers.tolist() if math.isfinite(number)]
    if len(finite) < 2 or min(finite) == max(finite):
        return ""
    parts = [histogram(finite, width)]
    if len(value.shape) == 2 and numbers.numel() == value.numel() and min(value.shape) > 1:
        parts.append(heat_map(numbers.reshape(value.shape), width))
    return "\n".join(parts)


def histogram(finite: Sequence[float], width: int) -> str:
    low, high = min(finite), max(finite)
    left, right = f"{low:.3g} ", f" {high:.3g}"
    bins = max(8, min(width - len(left) - len(right) - 2, 48))
    counts = [0] * bins
    for number in finite:
        counts[min(int((number - low) / (high - low) * bins), bins - 1)] += 1
    most = max(counts)
    bars = "".join(BARS[min(round(count / most * 7), 7)] if count else " " for count in counts)
    return f"  {left}{bars}{right}"


def heat_map(matrix: Any, width: int) -> str:
    """Each cell is the mean of the elements under it; what is not finite is marked with an x."""
    from torch.nn.functional import adaptive_avg_pool2d

    rows, columns = min(matrix.shape[0], HEIGHT), min(matrix.shape[1], width - 4, 64)
    cells = adaptive_avg_pool2d(matrix[None].float(), (rows, columns))[0].tolist()
    finite = [cell for row in cells for cell in row if math.isfinite(cell)]
    if not finite:
        return ""
    low, span = min(finite), (max(finite) - min(finite)) or 1.0
    lines = []
    for row in cells:
        shades = [SHADES[min(int((c - low) / span * len(SHADES)), 4)] if math.isfinite(c) else "x" for c in row]
        lines.append(f"  {''.join(shades)}")
    legend = f"  {SHADES[0]} low, {SHADES[-1]} high" + (", x not finite" if any("x" in line for line in lines) else "")
    return "\n".join([*lines, legend])
