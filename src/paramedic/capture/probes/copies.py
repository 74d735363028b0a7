"""Weights as they were before an optimizer's step, so that the update can be measured as what really changed."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch.optim import Optimizer

from paramedic.capture.facts import readable

MOST_ON_HOST = 256 << 20  # bytes
MOST_OF_DEVICE = 0.03  # share of an accelerator's memory


class Copies:
    """Copies as many weights as its share of memory allows; of a larger model, the next ones at the next sample."""

    def __init__(self) -> None:
        self._taken: list[torch.Tensor] = []  # the parameters copied for the step that is about to happen
        self._room: weakref.WeakKeyDictionary[Optimizer, dict[int, torch.Tensor]] = weakref.WeakKeyDictionary()
        self._first: weakref.WeakKeyDictionary[Optimizer, int] = weakref.WeakKeyDictionary()

    def take(self, optimizer: Optimizer, parameters: list[torch.Tensor]) -> None:
        chosen = self._choose(optimizer, [p for p in parameters if p.layout == torch.strided and readable(p)])
        room = self._room.get(optimizer, {})
        kept = {id(p): room[id(p)] if _fits(room.get(id(p)), p) else torch.empty_like(p.detach()) for p in chosen}
        self._room[optimizer] = kept
        self._taken = chosen
        if chosen:
            with torch.no_grad():
                torch._foreach_copy_(list(kept.values()), [p.detach() for p in chosen])

    def differences(self, optimizer: Optimizer) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        """The copied parameters, and for each: before minus after."""
        taken, self._taken = self._taken, []
        room = self._room.get(optimizer, {})
        taken = [p for p in taken if id(p) in room and _fits(room[id(p)], p)]
        before = [room[id(p)] for p in taken]
        if taken:
            with torch.no_grad():
                torch._foreach_sub_(before, [p.detach() for p in taken])
        return taken, before

    def _choose(self, optimizer: Optimizer, parameters: list[torch.Tensor]) -> list[torch.Tensor]:
        """Parameters from where the last sample left off, until the memory for copies is full."""
        if not parameters:
            return []
        left: dict[Any, float] = {p.device: _room_on(p.device) for p in parameters}
        first = self._first.get(optimizer, 0) % len(parameters)
        order = parameters[first:] + parameters[:first]
        chosen: list[torch.Tensor] = []
        for p in order:
            left[p.device] -= p.numel() * p.element_size()
            if left[p.device] < 0 and chosen:
                break
            chosen.append(p)
        self._first[optimizer] = (first + len(chosen)) % len(parameters) if len(chosen) < len(parameters) else 0
        return chosen


def _fits(copy: torch.Tensor | None, p: torch.Tensor) -> bool:
    return copy is not None and (copy.shape, copy.dtype, copy.device) == (p.shape, p.dtype, p.device)


def _room_on(device: torch.device) -> float:
    if device.type == "cuda":
        return MOST_OF_DEVICE * torch.cuda.get_device_properties(device).total_memory
    return MOST_ON_HOST
