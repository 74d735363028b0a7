"""A linear model in the place of the script's own, in its own loop and with its own loss.

If this learns and the script's model does not, the fault lies inside the model; if it does not learn either what a
linear model could, it lies in the loss or the loop.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from paramedic.aliases import Function
from paramedic.interventions.roles import is_changeable
from paramedic.interventions.surroundings import Surroundings, is_trained

RATE = 1e-2
MOST_WEIGHTS = 20_000_000


def install(surroundings: Surroundings, argument: str) -> None:
    surroundings.reason = "no model that turns one tensor into another was called"
    made: dict[int, Stand] = {}
    depth = [0]

    def instead(original: Function) -> Function:
        def call(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            outermost, depth[0] = not depth[0] and is_trained(module), depth[0] + 1
            try:
                output = original(module, *args, **kwargs)
                if not outermost or not (args and is_changeable(args[0]) and is_changeable(output)):
                    return output
                if id(module) not in made:
                    made[id(module)] = Stand(args[0], output)
                surroundings.applied += 1
                return made[id(module)](args[0], output)
            finally:
                depth[0] -= 1

        return call

    def learn(optimizer: Optimizer) -> None:
        for stand in made.values():
            stand.learn()

    surroundings.replace(nn.Module, "__call__", instead)
    surroundings.around_steps(lambda optimizer: None, learn)


class Stand:
    """Stands in for a model: one linear map of the whole sample, or of how often each token occurs in it."""

    def __init__(self, given: torch.Tensor, output: torch.Tensor) -> None:
        self.tokens = 0 if given.is_floating_point() else max(int(given.max()) + 1, 2) * 2
        width, height = self.tokens or given[0].numel(), output[0].numel()
        if width * height > MOST_WEIGHTS:
            raise MemoryError(f"a linear model of {width} inputs and {height} outputs is too large")
        self.weight = torch.zeros(width, height, device=output.device, requires_grad=True)
        self.bias = torch.zeros(height, device=output.device, requires_grad=True)
        self.moments = {held: (torch.zeros_like(held), torch.zeros_like(held)) for held in (self.weight, self.bias)}
        self.steps = 0

    def __call__(self, given: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
        rows = given.reshape(len(given), -1)
        if self.tokens:
            rows = torch.zeros(len(rows), self.tokens, device=rows.device).scatter_add_(
                1, rows.long().clamp(0, self.tokens - 1), torch.ones_like(rows, dtype=torch.float32)
            )
        told = rows.float() @ self.weight + self.bias
        return told.to(output.dtype).reshape(output.shape)

    def learn(self) -> None:
        """A step of Adam, written out: an optimizer of torch would be watched like the script's own."""
        self.steps += 1
        for held, (mean, square) in self.moments.items():
            if held.grad is not None and held.grad.isfinite().all():
                mean.lerp_(held.grad, 0.1)
                square.lerp_(held.grad**2, 0.01)
                scale = (square / (1 - 0.99**self.steps)).sqrt() + 1e-8
                held.data -= RATE * mean / (1 - 0.9**self.steps) / scale
            held.grad = None
