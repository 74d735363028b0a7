"""Gradients clipped to a norm of 1 before every step."""

from __future__ import annotations

import torch
from torch.optim import Optimizer

from paramedic.interventions.surroundings import Surroundings


def install(surroundings: Surroundings, argument: str) -> None:
    def clip(optimizer: Optimizer) -> None:
        held = [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        surroundings.applied += 1
        torch.nn.utils.clip_grad_norm_(held, 1.0)

    surroundings.around_steps(clip, lambda optimizer: None)
