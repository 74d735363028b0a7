"""Inputs shifted and scaled, feature by feature, to the mean 0 and the spread 1 of the first batch."""

from __future__ import annotations

import torch

from paramedic.interventions.surroundings import Inputs, Surroundings


def install(surroundings: Surroundings, argument: str) -> None:
    known: dict[tuple[object, torch.Size], tuple[torch.Tensor, torch.Tensor]] = {}

    def standardise(inputs: Inputs) -> Inputs:
        return [_standardised(tensor) for tensor in inputs]

    def _standardised(tensor: torch.Tensor) -> torch.Tensor:
        if not tensor.is_floating_point() or len(tensor) < 2:
            return tensor
        key = (surroundings.place, tensor.shape[1:])  # the parts of a pair are measured alike
        if key not in known:
            across = (0,) if tensor.dim() == 2 else (0, *range(2, tensor.dim()))
            spread, mean = torch.std_mean(tensor, dim=across, keepdim=True)
            known[key] = mean, torch.where(spread > 0, spread, torch.ones_like(spread))
        surroundings.applied += 1
        return (tensor - known[key][0]) / known[key][1]

    surroundings.needs_inputs_apart()
    surroundings.change_batches(inputs=standardise)
    surroundings.reason = "no floating-point inputs were seen"
