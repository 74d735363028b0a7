"""Targets dealt out anew within every batch: nothing is left to learn but how often each occurs."""

from __future__ import annotations

import torch

from paramedic.interventions.surroundings import Surroundings


def install(surroundings: Surroundings, argument: str) -> None:
    dice = torch.Generator().manual_seed(0)  # the script's own random numbers stay as they are

    def permute(target: torch.Tensor) -> torch.Tensor:
        if len(target) < 2:
            surroundings.reason = "every batch holds a single sample"
            return target
        surroundings.applied += 1
        return target[torch.randperm(len(target), generator=dice).to(target.device)]

    surroundings.change_batches(target=permute)
