"""Tensors that no optimizer holds: does the program move them itself?"""

from __future__ import annotations

import weakref

import torch
from torch import nn

from paramedic.capture.facts import LARGE, PIECE, readable, some_values, wide
from paramedic.capture.stats.layout import pieces
from paramedic.capture.watcher import Watcher
from paramedic.record.facts import HiddenMoved

MOST_LOOKS = 40


class ByHand:
    """Compares tensors that hide from their model with what they were when they were found."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._followed: dict[str, list[tuple[weakref.ref[torch.Tensor], int, torch.Tensor]]] = {}
        self._owners: dict[str, weakref.ref[nn.Module]] = {}
        self._looks = 0

    def follow(self, holder: str, owner: nn.Module, tensors: list[torch.Tensor]) -> None:
        """To be called when they have their first gradient, before the program could have used it."""
        with torch.no_grad():
            found = [(weakref.ref(t), t._version, _mark(t)) for t in tensors if t.grad is not None and readable(t)]
        if found:
            self._followed[holder] = found
            self._owners[holder] = weakref.ref(owner)
            self._looks = 0

    def look(self) -> None:
        """After an optimizer step."""
        if not self._followed or not (self.watcher.gears.examining or self.watcher.gears.affordable()):
            return
        self._looks += 1
        with torch.no_grad():
            for holder, tensors in list(self._followed.items()):
                if self._owners[holder]() is None:  # its tensors have gone with the model
                    del self._followed[holder]
                    continue
                for ref, version, mark in tensors:
                    self._compare(holder, ref(), version, mark)
        if self._looks >= MOST_LOOKS:
            self._followed.clear()

    def _compare(self, holder: str, tensor: torch.Tensor | None, version: int, mark: torch.Tensor) -> None:
        if tensor is None or tensor._version != version:  # replaced by another one, or written to
            self._moved(holder)
        else:  # writing through .data leaves the version as it was
            changed = (_mark(tensor) != mark).any().reshape(1).float()
            self.watcher.read(changed, lambda numbers: self._moved(holder) if numbers[0] else None)

    def _moved(self, holder: str) -> None:
        self._followed.pop(holder, None)
        self.watcher.state(HiddenMoved(), module=holder, key=holder)


def _mark(tensor: torch.Tensor) -> torch.Tensor:
    """Two numbers that change when the values do; of a very large tensor, when some of them do."""
    parts = pieces(tensor.detach(), PIECE) if tensor.nbytes <= LARGE else [some_values(tensor, PIECE)]
    return torch.stack([torch.stack([wide(part).sum(), wide(part).square().sum()]) for part in parts]).sum(0)
