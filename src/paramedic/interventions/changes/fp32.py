"""Full precision where the script uses autocast."""

from __future__ import annotations

import torch

from paramedic.aliases import Function
from paramedic.interventions.surroundings import Surroundings


def install(surroundings: Surroundings, argument: str) -> None:
    surroundings.reason = "the script does not use autocast"

    def disabled(original: Function) -> Function:
        def init(self: object, *args: object, **kwargs: object) -> None:
            surroundings.applied += 1
            original(self, *args[:2], **{**kwargs, "enabled": False})

        return init

    surroundings.replace(torch.amp.autocast_mode.autocast, "__init__", disabled)
