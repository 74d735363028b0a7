"""Inputs without content: what a model learns from them it knows from the targets alone."""

from __future__ import annotations

import torch

from paramedic.interventions.surroundings import Inputs, Surroundings


def install(surroundings: Surroundings, argument: str) -> None:
    def empty(inputs: Inputs) -> Inputs:
        surroundings.applied += 1
        return [torch.zeros_like(tensor) for tensor in inputs]

    surroundings.change_batches(inputs=empty)
