"""Attempts to freeze parameters, effective or not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Freeze


def by_parameter(model: nn.Module) -> None:
    for p in model[0].parameters():
        p.requires_grad = False


def by_module(model: nn.Module) -> None:
    model[0].requires_grad = False


def by_copy(model: nn.Module) -> None:
    for value in model[0].state_dict().values():
        value.requires_grad = False


def misspelt(model: nn.Module) -> None:
    for p in model[0].parameters():
        p.require_grad = False


def not_at_all(model: nn.Module) -> None:
    model.zero_grad()


@pytest.mark.parametrize(
    ("freeze", "target"),
    [(by_parameter, "parameter"), (by_module, "module"), (by_copy, "copy"), (misspelt, "misspelt"), (not_at_all, None)],
)
def test_each_way_to_freeze_is_told(freeze: Callable[[nn.Module], None], target: str | None) -> None:
    x = torch.randn(8, 4)

    def program() -> None:
        model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
        freeze(model)
        learn = training(model, lambda: model(x).square().mean())
        for _ in range(3):
            learn()

    found = facts_of(program, steps=1).facts(Freeze)
    assert {(fact.target, fact.tensors) for fact in found} == ({(target, 2)} if target else set())
