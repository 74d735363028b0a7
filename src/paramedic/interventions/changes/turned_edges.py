"""The edges of a graph turned round: messages run from the second row to the first, or along the transposed matrix."""

from __future__ import annotations

import torch
from torch import nn

from paramedic.aliases import Function
from paramedic.interventions.surroundings import Surroundings


def install(surroundings: Surroundings, argument: str) -> None:
    surroundings.reason = "the model is not given the edges of a graph"
    depth = [0]

    def turned(original: Function) -> Function:
        def call(module: nn.Module, *args: object, **kwargs: object) -> object:
            if not depth[0]:  # in evaluations as well
                surroundings.applied += any(map(_has_direction, (*args, *kwargs.values())))
                args = tuple(map(_turned, args))
                kwargs = {name: _turned(value) for name, value in kwargs.items()}
            depth[0] += 1
            try:
                return original(module, *args, **kwargs)
            finally:
                depth[0] -= 1

        return call

    surroundings.replace(nn.Module, "__call__", turned)


def _turned(value: object) -> object:
    if not isinstance(value, torch.Tensor) or not _has_direction(value):
        return value
    return value.flip(0) if _are_pairs(value) else value.t()


def _are_pairs(value: torch.Tensor) -> bool:
    return value.dim() == 2 and value.shape[0] == 2 and not value.is_floating_point() and value.shape[1] > 2


def _has_direction(value: object) -> bool:
    """Pairs of node numbers, or a square matrix of weights that are not negative and differ between the two ways."""
    if not isinstance(value, torch.Tensor) or value.dim() != 2 or value.layout != torch.strided:
        return False
    if _are_pairs(value):
        return True
    square = value.shape[0] == value.shape[1] > 2 and value.is_floating_point()
    return square and bool((value >= 0).all()) and not torch.equal(value, value.t())
