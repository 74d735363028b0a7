"""Train a model on one batch, and measure how much of the way to the loss's floor it went."""

from __future__ import annotations

import inspect
import itertools
import statistics
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from paramedic.testing.case import Case

SHARE = 0.9  # of the way from guessing to the floor that counts as learnt
CALM = 3  # steps at the goal, one after the other, before it counts


@dataclass(frozen=True, slots=True)
class Fit:
    """A training on one batch. `guess` is the loss of the best answer that ignores the input."""

    losses: tuple[float, ...]
    goal: float
    guess: float
    floor: float
    reached: bool
    easily: bool = True  # by the optimizer that was given, or the first that was tried

    @property
    def start(self) -> float:
        return self.losses[0]

    @property
    def end(self) -> float:
        last = [value for value in self.losses[-5:] if value == value]
        return statistics.median(last) if last else float("nan")

    @property
    def progress(self) -> float:
        """From guessing (0) to the floor (1)."""
        way = self.guess - self.floor
        return (self.guess - self.end) / way if way > 0 and self.end == self.end else 0.0

    @property
    def is_moving(self) -> bool:
        """Whether it is merely slow: each quarter of the steps is better than the one before, the last one, too."""
        quarter = max(len(self.losses) // 4, 1)
        parts = [self.losses[n * quarter : (n + 1) * quarter] for n in range(4)]
        if any(not part or any(v != v for v in part) for part in parts):
            return False
        means = [statistics.mean(part) for part in parts]
        falls = all(later < earlier for earlier, later in itertools.pairwise(means)) and means[-1] < self.start
        return falls and means[2] - means[3] > 0.01 * max(abs(means[2] - self.floor), 1e-9)


def fit(
    case: Case,
    optimizer: Optimizer,
    steps: int,
    *,
    guess: float,
    floor: float,
) -> Fit:
    """Train in training mode with dropout off until the goal is reached, or for so many steps."""
    case.model.train()
    quiet(case.model)
    goal = floor + (1 - SHARE) * (guess - floor)
    losses: list[float] = []
    calm = 0
    for _ in range(steps):
        optimizer.zero_grad(set_to_none=True)
        loss = case.compute()
        losses.append(float(loss.detach()))
        calm = calm + 1 if losses[-1] <= goal else 0
        if calm >= CALM or losses[-1] != losses[-1] or not loss.requires_grad:
            break
        loss.backward()
        advance(optimizer, case)
    return Fit(tuple(losses), goal, guess, floor, calm >= CALM)


def advance(optimizer: Any, case: Case) -> None:
    """The optimizer's step; one that wants to compute the loss again, as LBFGS does, may."""

    def closure() -> torch.Tensor:
        optimizer.zero_grad(set_to_none=True)
        loss = case.compute()
        loss.backward()
        return loss

    needs = inspect.signature(type(optimizer).step).parameters.get("closure")
    optimizer.step(*(() if needs is None or needs.default is None else (closure,)))


def quiet(model: nn.Module) -> None:
    """Dropout off: a batch cannot be fitted exactly while parts of the model are missing."""
    for module in model.modules():
        if isinstance(module, nn.modules.dropout._DropoutNd):
            module.training = False


def adam(model: nn.Module, rate: float) -> torch.optim.Optimizer:
    return torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=rate)


def rebuilt(optimizer: Any, **changes: Any) -> Any:
    """The same optimizer afresh, with some of its settings changed by a function of their value."""
    groups = [
        {name: changes[name](value) if name in changes else value for name, value in group.items()}
        for group in optimizer.param_groups
    ]
    own = [{name: value for name, value in group.items() if name not in ("initial_lr",)} for group in groups]
    return type(optimizer)(own, **{"lr": own[0]["lr"]} if "lr" in own[0] else {})
