"""One element of each parameter, kept over an optimizer's step to see whether it moves: many parameters at a time.

Parameters of the same size are stacked, since thousands of small ones cost more in calls than in numbers; large ones
are looked at one by one and never copied.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import torch

from paramedic.capture.facts import readable
from paramedic.capture.stats.layout import flatten

SMALL = 1 << 14  # elements of a parameter that is stacked with others
STACKED = 1 << 20  # elements in one stack
MOST_KEPT = 100_000  # elements of a parameter that is kept as a whole


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """Parameters of one size; each tensor has one element or row for each of them."""

    places: list[int]  # of these parameters among all of the optimizer
    parameters: list[torch.Tensor]
    where: torch.Tensor | None  # the marked element of each; None: all elements are kept
    value: torch.Tensor
    matters: torch.Tensor | None  # whether it must move
    nonzero: torch.Tensor | None  # whether the gradient was
    rate: float

    def moved(self) -> torch.Tensor:
        """For each parameter: moved (1), not (0) or, where it need not have, unknown (-1)."""
        if self.where is None:
            moved, matters = (_stack(self.parameters) != self.value).any(1).float(), self._mattered()
        else:
            moved, matters = (_at(self.parameters, self.where) != self.value).float(), self.matters
        return moved if matters is None else torch.where(matters, moved, moved * 2 - 1)

    def _mattered(self) -> torch.Tensor | None:
        """Of parameters that are kept as a whole: whether the gradient that a closure left could move any element."""
        gradients = [p.grad.detach() for p in self.parameters if p.grad is not None and readable(p.grad)]
        if len(gradients) < len(self.parameters):
            return None
        return _can_move(_stack(gradients), self.rate, self.value).any(1)

    def with_gradient(self) -> torch.Tensor:
        """For each parameter: whether its gradient is not zero everywhere (1)."""
        if self.nonzero is not None:
            return self.nonzero.float()
        return torch.stack([_any_gradient(p) for p in self.parameters]).float()


def mark(parameters: Sequence[torch.Tensor], rates: Sequence[float]) -> list[Marks]:
    """Where each gradient is largest and the value there, the element that moves if any does; whether it must move."""
    found = []
    for places in _alike(parameters, rates):
        some = [parameters[place] for place in places]
        gradients = [p.grad for p in some if p.grad is not None]
        where, slope = _largest(gradients)
        value = _at(some, where)
        rate = rates[places[0]]
        found.append(Marks(places, some, where, value, _can_move(slope, rate, value), slope != 0, rate))
    return found


def keep(parameters: Sequence[torch.Tensor], rates: Sequence[float]) -> list[Marks]:
    """With a closure the gradient is not there yet: keep the values, if they are few."""
    few = [place for place, p in enumerate(parameters) if readable(p) and p.numel() <= MOST_KEPT]
    values = [parameters[place].detach().reshape(1, -1).clone() for place in few]
    return [
        Marks([place], [parameters[place]], None, value, None, None, rates[place])
        for place, value in zip(few, values, strict=True)
    ]


def _can_move(gradient: torch.Tensor, rate: float, value: torch.Tensor) -> torch.Tensor:
    """Whether an update of this size changes the value at all.

    A gradient that is only rounding noise (a bias right before a BatchNorm) gives one too small to change a bit.
    """
    return gradient.abs() * rate > 16 * torch.finfo(value.dtype).eps * value.abs()


def _alike(parameters: Sequence[torch.Tensor], rates: Sequence[float]) -> list[list[int]]:
    """The places of those that can be marked, in groups of the same size; a large one is a group of its own."""
    groups: dict[Hashable, list[int]] = {}
    for place, p in enumerate(parameters):
        if p.grad is None or not readable(p) or not readable(p.grad):
            continue
        size = p.numel()
        if size <= SMALL:
            alike: Hashable = (size, p.dtype, p.grad.dtype, p.device, rates[place])
        elif p.is_contiguous() == p.grad.is_contiguous() and p.stride() == p.grad.stride():
            alike = place
        else:
            continue  # the same place in both could only be found with a copy
        groups.setdefault(alike, []).append(place)
    rows = [(group, max(1, STACKED // parameters[group[0]].numel())) for group in groups.values()]
    return [group[first : first + most] for group, most in rows for first in range(0, len(group), most)]


def _stack(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """A row for each, of tensors of one size; in one call, for there may be thousands."""
    flat: torch.Tensor = torch._C._nn.flatten_dense_tensors(tensors)
    return flat.view(len(tensors), -1).detach()


def _largest(gradients: Sequence[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Where each is largest in magnitude, and its value there."""
    if gradients[0].numel() <= SMALL:
        rows = _stack(gradients)
        where = rows.abs().argmax(1)
        return where, rows.gather(1, where[:, None])[:, 0]
    flat, _ = flatten(gradients[0].detach())
    if flat.dim() > 1:  # it has gaps
        flat = flat[0].reshape(-1)
    ends = torch.stack([flat.argmax(), flat.argmin()])
    values = flat[ends]
    chosen = values.abs().argmax().reshape(1)
    return ends[chosen], values[chosen]


def _at(tensors: Sequence[torch.Tensor], where: torch.Tensor) -> torch.Tensor:
    if tensors[0].numel() <= SMALL:
        return _stack(tensors).gather(1, where[:, None])[:, 0]
    flat, _ = flatten(tensors[0].detach())
    return (flat if flat.dim() == 1 else flat[0].reshape(-1))[where]


def _any_gradient(p: torch.Tensor) -> torch.Tensor:
    if p.grad is None:
        return torch.zeros((), dtype=torch.bool, device=p.device)
    if not readable(p.grad):
        return torch.ones((), dtype=torch.bool, device=p.device)
    return p.grad.detach().any()
