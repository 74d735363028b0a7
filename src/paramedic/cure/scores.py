"""The script's own metrics before and after an edit: the last value that it prints under each name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from paramedic.lab.printed import HIGHER, LOSS, readings

SLACK = 0.05  # of a share such as an accuracy, and of any other value relative to itself


def printed(output: Path) -> dict[str, float]:
    return {name: values[-1] for name, values in readings(output).items()}


def comparable(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Metrics that both runs printed, losses aside: an edit may change what a loss means."""
    return {
        name: (value, after[name])
        for name, value in before.items()
        if name in after and not LOSS.search(name) and value == value and after[name] == after[name]
    }


def got_worse(name: str, before: float, after: float) -> bool:
    """By more than two runs with other random numbers would differ."""
    slack = SLACK if 0 <= before <= 1 else SLACK * abs(before)
    return after < before - slack if HIGHER.search(name) else after > before + slack
