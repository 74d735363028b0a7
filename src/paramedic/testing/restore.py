"""Leave no trace: model, optimizer, gradients, modes and random state as they were before a check."""

from __future__ import annotations

import contextlib
import copy
import random
from collections.abc import Iterator
from typing import Any

import numpy
import torch
from torch import nn
from torch.optim import Optimizer


@contextlib.contextmanager
def restored(
    model: nn.Module | None = None, optimizer: Optimizer | None = None, *, seed: int | None = 0
) -> Iterator[None]:
    """Do what you like in this block; afterwards everything is as before. Inside, random numbers start from `seed`."""
    randomness = random_state()
    kept = _Model(model) if model is not None else None
    settings = _Optimizer(optimizer) if optimizer is not None else None
    try:
        if seed is not None:
            seed_all(seed)
        with torch.enable_grad():
            yield
    finally:
        if kept is not None:
            kept.put_back()
        if settings is not None:
            settings.put_back()
        set_random_state(randomness)


def seed_all(seed: int) -> None:
    random.seed(seed)
    numpy.random.seed(seed)
    torch.manual_seed(seed)


def random_state() -> tuple[Any, ...]:
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() and torch.cuda.is_initialized() else None
    return random.getstate(), numpy.random.get_state(), torch.get_rng_state(), cuda


def set_random_state(state: tuple[Any, ...]) -> None:
    random.setstate(state[0])
    numpy.random.set_state(state[1])
    torch.set_rng_state(state[2])
    if state[3] is not None:
        torch.cuda.set_rng_state_all(state[3])


class _Model:
    """Values are copied back into the same tensors: optimizers and tied modules hold on to those."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        named = [*model.named_parameters(), *model.named_buffers()]
        self.tensors = [(tensor, tensor.detach().clone()) for _, tensor in named]
        self.slots = [(m, dict(m._parameters), dict(m._buffers), dict(m._modules)) for m in model.modules()]
        self.gradients = [(p, None if p.grad is None else p.grad.detach().clone()) for p in model.parameters()]
        self.wanted = [(p, p.requires_grad) for p in model.parameters()]
        self.modes = [(module, module.training) for module in model.modules()]

    def put_back(self) -> None:
        for module, parameters, buffers, modules in self.slots:
            for mine, before in ((module._parameters, parameters), (module._buffers, buffers)):
                mine.clear()
                mine.update(before)
            module._modules.clear()
            module._modules.update(modules)
        with torch.no_grad():
            for tensor, before in self.tensors:
                tensor.copy_(before)
        for parameter, gradient in self.gradients:
            parameter.grad = gradient
        for parameter, wanted in self.wanted:
            parameter.requires_grad_(wanted)
        for module, training in self.modes:
            module.training = training


class _Optimizer:
    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.state = {key: copy.deepcopy(value) for key, value in optimizer.state.items()}
        self.groups = [{k: v for k, v in group.items() if k != "params"} for group in optimizer.param_groups]

    def put_back(self) -> None:
        self.optimizer.state.clear()
        self.optimizer.state.update(self.state)
        for group, before in zip(self.optimizer.param_groups, self.groups, strict=True):
            group.update(before)
