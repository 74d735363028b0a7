"""How large gradients have been so far, and whether one is suddenly larger by orders of magnitude."""

from __future__ import annotations

import weakref

from torch.optim import Optimizer

FEWEST = 10  # backward passes before anything can be called unusual
LEAP = 300.0  # times as large as ever before


class Leaps:
    """Remembers one number per optimizer: sums of gradients cancel now and then, their largest one does not."""

    def __init__(self) -> None:
        self._largest: weakref.WeakKeyDictionary[Optimizer, tuple[int, float]] = weakref.WeakKeyDictionary()

    def by(self, optimizer: Optimizer, size: float, *, final: bool = False) -> float:
        """How many times as large as ever this is, if that is a leap, else 0. A leap is kept only when `final`."""
        count, largest = self._largest.get(optimizer, (0, 0.0))
        leap = size / largest if count >= FEWEST and largest > 0 and size > LEAP * largest else 0.0
        if size and (final or not leap):  # an optimizer whose turn has not come has no gradients
            self._largest[optimizer] = (count + 1, max(largest, size))
        return leap
