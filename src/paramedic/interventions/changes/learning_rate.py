"""The learning rate multiplied by the argument, whatever schedule it follows."""

from __future__ import annotations

from collections.abc import Callable

from torch.optim import Optimizer

from paramedic.interventions.surroundings import Surroundings


def install(surroundings: Surroundings, argument: str) -> None:
    factor = float(argument)
    multiply(surroundings, lambda step: factor)


def multiply(surroundings: Surroundings, factor_at: Callable[[int], float]) -> None:
    """Multiply the rate for the duration of each step only: schedulers see the rate that they have set."""
    before: dict[int, list[object]] = {}

    def enter(optimizer: Optimizer) -> None:
        surroundings.applied += 1
        before[id(optimizer)] = [group["lr"] for group in optimizer.param_groups]
        for group in optimizer.param_groups:
            group["lr"] = group["lr"] * factor_at(surroundings.step)

    def leave(optimizer: Optimizer) -> None:
        for group, rate in zip(optimizer.param_groups, before.pop(id(optimizer), []), strict=False):
            group["lr"] = rate

    surroundings.around_steps(enter, leave)
