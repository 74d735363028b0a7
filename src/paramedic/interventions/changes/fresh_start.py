"""Every layer initialised by torch's own rule, right before the first training call of the model."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from paramedic.aliases import Function
from paramedic.interventions.surroundings import Surroundings


def install(surroundings: Surroundings, argument: str) -> None:
    surroundings.reason = "no layer that torch can initialise was trained"
    done: set[int] = set()

    def fresh(original: Function) -> Function:
        def call(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            if surroundings.step == 0 and module.training and torch.is_grad_enabled() and id(module) not in done:
                for part in module.modules():
                    if id(part) not in done and hasattr(part, "reset_parameters"):
                        part.reset_parameters()
                        surroundings.applied += 1
                    done.add(id(part))
            return original(module, *args, **kwargs)

        return call

    surroundings.replace(nn.Module, "__call__", fresh)
