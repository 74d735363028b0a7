"""A linear model in the place of the script's own, in its own loop and with its own loss.

If this learns and the script's model does not, the fault lies inside the model; if it does not learn either what a
linear model could, it lies in the loss or the loop.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer
from torch.utils._pytree import tree_flatten, tree_unflatten

from paramedic.aliases import Function
from paramedic.interventions.roles import is_changeable
from paramedic.interventions.surroundings import Surroundings, is_trained

RATE = 1e-2
MOST_WEIGHTS = 20_000_000


def install(surroundings: Surroundings, argument: str) -> None:
    surroundings.reason = "no model that turns tensors into others was called"
    surroundings.needs_inputs_apart()  # a map of the whole sample would hand it through
    made: dict[tuple[int, int], Stand] = {}  # by the model and the number of the answer
    depth = [0]

    def instead(original: Function) -> Function:
        def call(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            outermost, depth[0] = not depth[0] and is_trained(module), depth[0] + 1
            try:
                output = original(module, *args, **kwargs)
            finally:
                depth[0] -= 1
            given = next((value for value in (*args, *kwargs.values()) if is_changeable(value)), None)
            if not outermost or given is None:
                return output
            outputs, rebuilt = tree_flatten(output)
            if not any(map(_is_answer, outputs)) or any(_is_loss(value) for value in outputs):
                return output
            surroundings.applied += 1
            told = [stood_in(module, i, given, one) if _is_answer(one) else one for i, one in enumerate(outputs)]
            return tree_unflatten(told, rebuilt)

        return call

    def stood_in(module: nn.Module, number: int, given: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
        key = (id(module), number)
        if key not in made:
            made[key] = Stand(given, output)
        return made[key](given, output)

    def learn(optimizer: Optimizer) -> None:
        for stand in made.values():
            stand.learn()

    surroundings.replace(nn.Module, "__call__", instead)
    surroundings.around_steps(lambda optimizer: None, learn)


def _is_answer(value: object) -> bool:
    return is_changeable(value) and isinstance(value, torch.Tensor) and value.requires_grad


def _is_loss(value: object) -> bool:
    """Made inside of the model, where nothing that comes out of it has an effect any more."""
    return isinstance(value, torch.Tensor) and not value.dim() and value.requires_grad


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
