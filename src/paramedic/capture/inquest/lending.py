"""Copies of the user's tensors for statements that are run again: what those change in place is not the user's."""

from __future__ import annotations

from typing import Any

import torch

from paramedic.aliases import Fields
from paramedic.program.tensors import tensors_in

MOST = 1 << 30  # bytes; of more, nothing is copied


def lent(variables: dict[str, object]) -> Fields:
    """Those of the variables that hold data, with copies of it: batches and masks, but neither weights nor results."""
    found = {name: list(tensors_in(value)) for name, value in variables.items() if _is_opened(value)}
    data = {id(tensor): tensor for tensors in found.values() for _, tensor in tensors if _is_data(tensor)}
    if sum(tensor.nbytes for tensor in data.values()) > MOST:
        return {}
    copies = {identity: tensor.clone() for identity, tensor in data.items()}
    return {
        name: _with(variables[name], copies)
        for name, tensors in found.items()
        if any(id(tensor) in copies for _, tensor in tensors)
    }


def _is_opened(value: object) -> bool:
    return type(value) in (torch.Tensor, list, tuple, dict)


def _is_data(tensor: torch.Tensor) -> bool:
    return type(tensor) is torch.Tensor and not tensor.requires_grad and tensor.layout is torch.strided


def _with(value: Any, copies: dict[int, torch.Tensor]) -> torch.Tensor:
    if isinstance(value, torch.Tensor):
        return copies.get(id(value), value)
    if type(value) is dict:
        return {key: _with(held, copies) for key, held in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_with(held, copies) for held in value)
    return value
