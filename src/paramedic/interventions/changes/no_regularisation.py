"""Dropout and weight decay off."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F
from torch.optim import Optimizer

from paramedic.aliases import Function
from paramedic.interventions.surroundings import Surroundings

DROPOUTS = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")


def install(surroundings: Surroundings, argument: str) -> None:
    surroundings.reason = "there is neither dropout nor weight decay"
    changed = surroundings.applied

    def kept(original: Function) -> Function:
        def dropout(input: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> torch.Tensor:
            surroundings.applied += bool(p and training)
            return input

        return dropout

    def no_decay(optimizer: Optimizer) -> None:
        for group in optimizer.param_groups:
            surroundings.applied += bool(group.get("weight_decay"))
            group["weight_decay"] = 0.0 if "weight_decay" in group else None

    for name in DROPOUTS:
        surroundings.replace(F, name, kept)
    surroundings.replace(nn.RNNBase, "forward", _without_dropout)
    surroundings.replace(F, "scaled_dot_product_attention", _attention_without_dropout)
    _before_steps(surroundings, no_decay)
    surroundings.applied = changed


def _before_steps(surroundings: Surroundings, change: Callable[[Optimizer], None]) -> None:
    from torch.optim.optimizer import register_optimizer_step_pre_hook

    register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: change(optimizer))


def _without_dropout(original: Function) -> Function:
    def forward(module: nn.Module, *args: object, **kwargs: object) -> object:
        module.dropout = 0.0
        return original(module, *args, **kwargs)

    return forward


def _attention_without_dropout(original: Function) -> Function:
    def attention(
        query: object,
        key: object,
        value: object,
        attn_mask: object = None,
        dropout_p: float = 0.0,
        *rest: object,
        **kwargs: object,
    ) -> object:
        return original(query, key, value, attn_mask, 0.0, *rest, **kwargs)

    return attention
