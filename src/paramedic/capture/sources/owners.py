"""Which optimizer holds which parameter."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping

from torch.optim import Optimizer


class Owners(dict[int, list["weakref.ref[Optimizer]"]]):
    """By the id of a parameter. Optimizers are only held weakly: in a sweep, each must die with its model."""

    def index(self, optimizers: Iterable[Optimizer]) -> None:
        self.clear()
        for optimizer in optimizers:
            reference = weakref.ref(optimizer)
            for group in optimizer.param_groups:
                for p in group["params"]:
                    self.setdefault(id(p), []).append(reference)

    def of(self, identity: int) -> list[Optimizer]:
        return [optimizer for reference in self.get(identity, []) if (optimizer := reference()) is not None]


def held_by(optimizers: Mapping[Optimizer, int]) -> dict[int, int]:
    """id of a parameter -> number of the first optimizer that holds it."""
    found: dict[int, int] = {}
    for optimizer, number in optimizers.items():
        for group in optimizer.param_groups:
            for p in group["params"]:
                found.setdefault(id(p), number)
    return found
