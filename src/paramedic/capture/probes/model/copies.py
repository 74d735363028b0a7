"""Weights as they were before an optimizer's step, so that the update can be measured as what really changed."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from operator import is_

import torch
from torch.optim import Optimizer

from paramedic.capture.facts import readable

MOST_ON_HOST = 64 << 20  # bytes
MOST_OF_DEVICE = 0.03  # share of an accelerator's memory


@dataclass(slots=True)
class Room:
    """Memory for the copies of one optimizer's parameters."""

    parameters: list[torch.Tensor]
    copies: list[torch.Tensor]
    whole: bool  # there is room for all of them
    size: int
    too_large: list[torch.Tensor]
    taken: bool = False

    def fits(self, parameters: list[torch.Tensor]) -> bool:
        same = len(parameters) == len(self.parameters) and all(map(is_, parameters, self.parameters))
        return same and sum(p.numel() for p in parameters) == self.size


class Copies:
    """Copies as many weights as its share of memory allows; of a larger model, the next ones at the next sample."""

    def __init__(self) -> None:
        self._rooms: weakref.WeakKeyDictionary[Optimizer, Room] = weakref.WeakKeyDictionary()
        self._first: weakref.WeakKeyDictionary[Optimizer, int] = weakref.WeakKeyDictionary()

    def take(self, optimizer: Optimizer, parameters: list[torch.Tensor]) -> list[torch.Tensor]:
        """Copy what there is room for. Returns what is larger than all the room, and therefore never copied."""
        room = self._rooms.get(optimizer)
        if room is None or not room.whole or not room.fits(parameters):
            room = self._rooms[optimizer] = self._make_room(optimizer, parameters)
        if room.copies:
            with torch.no_grad():
                torch._foreach_copy_(room.copies, room.parameters)
        room.taken = True
        return room.too_large

    def _make_room(self, optimizer: Optimizer, parameters: list[torch.Tensor]) -> Room:
        rooms = {device: _room_on(device) for device in {p.device for p in parameters}}
        found = [(p, p.nbytes <= rooms[p.device]) for p in parameters if readable(p)]
        chosen = self._choose(optimizer, [p for p, fits in found if fits], rooms)
        copies = [torch.empty_like(p.detach()) for p in chosen]
        size, too_large = sum(p.numel() for p in chosen), [p for p, fits in found if not fits]
        return Room(chosen, copies, whole=len(chosen) == len(parameters), size=size, too_large=too_large)

    def differences(self, optimizer: Optimizer) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
        """The copied parameters, and for each: before minus after."""
        room = self._rooms.get(optimizer)
        if room is None or not room.taken:
            return [], []
        room.taken = False
        if room.copies:
            with torch.no_grad():
                torch._foreach_sub_(room.copies, room.parameters)
        return room.parameters, room.copies

    def _choose(
        self, optimizer: Optimizer, parameters: list[torch.Tensor], left: dict[torch.device, float]
    ) -> list[torch.Tensor]:
        """Parameters from where the last sample left off, until the memory for copies is full."""
        if not parameters:
            return []
        first = self._first.get(optimizer, 0) % len(parameters)
        order = parameters[first:] + parameters[:first]
        chosen: list[torch.Tensor] = []
        for p in order:
            left[p.device] -= p.nbytes
            if left[p.device] < 0:
                break
            chosen.append(p)
        self._first[optimizer] = (first + len(chosen)) % len(parameters) if len(chosen) < len(parameters) else 0
        return chosen


def _room_on(device: torch.device) -> float:
    if device.type == "cuda":
        return MOST_OF_DEVICE * torch.cuda.get_device_properties(device).total_memory
    return MOST_ON_HOST
