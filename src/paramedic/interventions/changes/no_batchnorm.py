"""BatchNorm without normalisation: only its weights and biases are left."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional as F

from paramedic.aliases import Function
from paramedic.interventions.surroundings import Surroundings


def install(surroundings: Surroundings, argument: str) -> None:
    surroundings.reason = "there is no BatchNorm"

    def only_affine(original: Function) -> Function:
        def batch_norm(input: torch.Tensor, mean: object, var: object, weight: Any = None, bias: Any = None,
                       *rest: object, **options: object) -> torch.Tensor:  # fmt: skip
            surroundings.applied += 1
            shape = [1, -1] + [1] * (input.dim() - 2)
            scaled = input * weight.view(shape) if weight is not None else input
            return scaled + bias.view(shape) if bias is not None else scaled

        return batch_norm

    surroundings.replace(F, "batch_norm", only_affine)
