"""A gradient or two of each optimizer, looked at after every backward pass, however short the steps are."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable
from typing import Any

import torch

from paramedic.capture.facts import local

FEWEST = 10  # backward passes before anything can be called unusual
LEAP = 300.0  # times as large as ever before
_item = torch._C.TensorBase.item  # as torch has it, whoever replaced Tensor.item


class Sentinel:
    """The parameters of one optimizer that are looked at, and how large their gradients have been so far.

    Sums of gradients cancel now and then; the largest so far does not.
    """

    def __init__(self, parameters: Iterable[torch.Tensor]) -> None:
        self.references = [weakref.ref(parameter) for parameter in parameters]
        self.afar: float | None = None  # the number of an accelerator's gradients, where it is known
        self._count = 0
        self._largest = 0.0

    def parameters(self) -> list[torch.Tensor]:
        return [parameter for reference in self.references if (parameter := reference()) is not None]

    def size(self) -> float | None:
        """One number, not finite if any value is not; None if one of the gradients cannot be summed."""
        total = 0.0
        for reference in self.references:
            parameter = reference()
            gradient: Any = local(parameter.grad) if parameter is not None and parameter.grad is not None else None
            if type(gradient) is not torch.Tensor or gradient.layout is not torch.strided:
                return None
            if gradient.is_cpu:
                total += abs(_item(gradient.sum()))
        return total + (self.afar or 0.0)

    def on_host(self) -> bool:
        return all(parameter.is_cpu for parameter in self.parameters())

    def limit(self) -> float:
        """What is larger than this is a leap."""
        return LEAP * self._largest if self._count >= FEWEST and self._largest else math.inf

    def leap(self, size: float, *, final: bool = False) -> float:
        """How many times as large as ever this is, if that is a leap, else 0. A leap is kept only when `final`."""
        largest = self._largest
        leap = size / largest if self._count >= FEWEST and 0 < LEAP * largest < size else 0.0
        if size and (final or not leap):  # an optimizer whose turn has not come has no gradients
            self._count += 1
            self._largest = max(largest, size)
        return leap
