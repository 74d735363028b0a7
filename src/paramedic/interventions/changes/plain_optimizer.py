"""The optimizer with the values that its class has of its own, but for the learning rate."""

from __future__ import annotations

import inspect
from typing import Any

from torch.optim import Optimizer

from paramedic.interventions.surroundings import Surroundings

KEPT = ("params", "lr", "self", "weight_decay", "foreach", "fused", "capturable", "differentiable", "maximize")


def install(surroundings: Surroundings, argument: str) -> None:
    surroundings.reason = "apart from its learning rate the optimizer has the values of its class"
    seen: set[int] = set()

    def plain(optimizer: Optimizer) -> None:
        if id(optimizer) in seen:
            return
        seen.add(id(optimizer))
        for name, usual in _defaults(optimizer).items():
            for group in optimizer.param_groups:
                if name in group and _differs(group[name], usual):
                    surroundings.noted.setdefault("settings", {})[name] = [str(group[name]), str(usual)]
                    group[name] = usual
                    surroundings.applied += 1

    surroundings.around_steps(plain, lambda optimizer: None)


def _defaults(optimizer: Optimizer) -> dict[str, object]:
    found = inspect.signature(type(optimizer).__init__).parameters
    return {
        name: parameter.default
        for name, parameter in found.items()
        if name not in KEPT and parameter.default is not inspect.Parameter.empty and parameter.default is not None
    }


def _differs(value: Any, usual: object) -> bool:
    return tuple(value) != tuple(usual) if isinstance(usual, tuple | list) else value != usual
