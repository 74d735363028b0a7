"""The other side of `paramedic.log`: numbers and tensors of the script's own become points in the record."""

from __future__ import annotations

from typing import Any

import torch

from paramedic import voice
from paramedic.capture.watcher import Watcher
from paramedic.errors import shown
from paramedic.logged import SERIES

MOST_NAMES = 1_000
STATISTICS = ("mean", "std", "min", "max")  # of a tensor of several elements


class Values:
    """What cannot be recorded is told once for each name; the script goes on."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._names: set[str] = set()
        self._refused: set[str] = set()

    def record(self, name: str, value: Any) -> None:
        if name not in self._names and len(self._names) >= MOST_NAMES:
            self._refuse("further names", f"more than {MOST_NAMES:,} names", "as few as one can look at")
            return
        self._names.add(name)
        if isinstance(value, torch.Tensor):
            self._record_tensor(name, value.detach())
            return
        try:
            self.watcher.writer.point(SERIES + name, self.watcher.step, float(value))
        except (TypeError, ValueError, OverflowError):
            self._refuse(name, shown(value), "a number or a tensor")

    def _record_tensor(self, name: str, value: torch.Tensor) -> None:
        if not value.numel() or value.is_complex():
            self._refuse(name, f"a tensor {tuple(value.shape)} of {value.dtype}", "real numbers")
            return
        step, names = self.watcher.step, [SERIES + name]
        if value.numel() > 1:
            names = [f"{SERIES}{name}/{statistic}" for statistic in STATISTICS]
            with torch.no_grad():
                value = value.double() if value.device.type == "cpu" else value.float()
                value = torch.stack([value.mean(), value.std(correction=0), value.min(), value.max()])

        def use(numbers: list[float]) -> None:
            for series, number in zip(names, numbers, strict=True):
                self.watcher.writer.point(series, step, float(number))

        self.watcher.read(value, use)

    def _refuse(self, name: str, got: str, expected: str) -> None:
        if name not in self._refused:
            self._refused.add(name)
            voice.say(f"paramedic: log({shown(name)}) was given {got}; expected {expected}. It is not recorded.")
