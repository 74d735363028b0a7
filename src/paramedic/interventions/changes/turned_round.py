"""The positive and the negative of a triplet loss exchanged."""

from __future__ import annotations

from typing import Any

from torch.nn import functional as F

from paramedic.aliases import Function
from paramedic.interventions.surroundings import Surroundings

LOSSES = ("triplet_margin_loss", "triplet_margin_with_distance_loss")


def install(surroundings: Surroundings, argument: str) -> None:
    surroundings.reason = "no triplet loss of torch is used"

    def exchanged(original: Function) -> Function:
        def loss(anchor: object, positive: object, negative: object, *args: object, **kwargs: object) -> Any:
            surroundings.applied += 1
            return original(anchor, negative, positive, *args, **kwargs)

        return loss

    for name in LOSSES:
        surroundings.replace(F, name, exchanged)
