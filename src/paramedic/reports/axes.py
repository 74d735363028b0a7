"""The axes of a chart: from a value to a pixel, and the values a person would write beside them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paramedic.findings.words import number

LOG_FROM = 2  # powers of ten between the lowest and the highest value from which the axis is logarithmic
HUGE = 300  # the power of ten beyond which the arithmetic of the axes itself overflows


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A labelled place on an axis."""

    at: float  # pixels
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A scale with its ticks."""

    pixel: Callable[[float], float]
    ticks: tuple[Tick, ...]
    log: bool = False


def finite(value: float) -> bool:
    """Whether the value has a place on an axis at all."""
    return math.isfinite(value) and abs(value) < 10.0**HUGE


def step_axis(low: int, high: int, start: float, end: float) -> Axis:
    """An axis from end to end, with whole numbers beside it."""
    pixel = _linear(low, high, start, end)
    whole = [int(place) for place in _round_places(low, high) if place.is_integer()]
    return Axis(pixel=pixel, ticks=tuple(Tick(at=pixel(place), label=f"{place:,}") for place in whole))


def value_axis(values: Sequence[float], start: float, end: float) -> Axis:
    """An axis with a little air around the values, logarithmic when they are positive and far apart."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    if low > 0 and math.log10(high) - math.log10(low) > LOG_FROM:
        return _log_axis(math.log10(low), math.log10(high), start, end)
    air = (high - low) * 0.06 or abs(high) * 0.5 or 0.5
    low, high = low - air, high + air
    pixel = _linear(low, high, start, end)
    places = _round_places(low, high) if values else []
    return Axis(
        pixel=pixel, ticks=tuple(Tick(at=pixel(place), label=_label(place, (high - low) / 1000)) for place in places)
    )


def _log_axis(low: float, high: float, start: float, end: float) -> Axis:
    air = (high - low) * 0.06
    scale = _linear(low - air, high + air, start, end)
    powers = range(max(-HUGE, math.ceil(low - air)), math.floor(high + air) + 1)
    shown = powers[:: max(1, math.ceil(len(powers) / 6))]
    return Axis(
        pixel=lambda value: scale(math.log10(value)),
        ticks=tuple(Tick(at=scale(power), label=number(10.0**power)) for power in shown),
        log=True,
    )


def _linear(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    span = (high - low) or 1.0
    return lambda value: round(start + (value - low) / span * (end - start), 1)


def _round_places(low: float, high: float) -> list[float]:
    """Some four values that a person would choose between these two."""
    rough = (high - low) / 4 or 1.0
    size = 10.0 ** math.floor(math.log10(rough))
    stride = next(factor * size for factor in (1, 2, 2.5, 5, 10) if factor * size >= rough * 0.999)
    return [k * stride for k in range(math.ceil(low / stride - 1e-9), math.floor(high / stride + 1e-9) + 1)]


def _label(value: float, error: float) -> str:
    """As few digits as stay within an error that nobody can see on the axis."""
    labels = (f"{value:.{digits}g}" for digits in range(4, 16))
    return next((label for label in labels if abs(float(label) - value) <= error), f"{value:.16g}")
