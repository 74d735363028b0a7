"""A simpler loss of the same task: the mean squared error for regression, plain cross-entropy for classes."""

from __future__ import annotations

from typing import Any

from torch.nn import functional as F

from paramedic.aliases import Function
from paramedic.interventions.surroundings import Surroundings

REGRESSION = ("smooth_l1_loss", "huber_loss", "l1_loss", "poisson_nll_loss")
PLAIN = ("cross_entropy", "binary_cross_entropy_with_logits")


def install(surroundings: Surroundings, argument: str) -> None:
    surroundings.reason = "the loss is already the simplest of torch's, or is written by hand"
    simplest = F.mse_loss

    def squared(original: Function) -> Function:
        def loss(prediction: object, target: object, *args: object, **kwargs: object) -> Any:
            surroundings.applied += 1
            return simplest(prediction, target)

        return loss

    def plain(original: Function) -> Any:
        def loss(prediction: object, target: object, *args: object, **kwargs: object) -> Any:
            special = [n for n in ("weight", "pos_weight") if kwargs.get(n) is not None]
            surroundings.applied += bool(special or args or kwargs.get("label_smoothing"))
            kept = {name: value for name, value in kwargs.items() if name == "ignore_index"}
            return original(prediction, target, **kept)

        return loss

    for name in REGRESSION:
        surroundings.replace(F, name, squared)
    for name in PLAIN:
        surroundings.replace(F, name, plain)
