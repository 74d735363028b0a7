"""Affine layers that follow each other with nothing in between."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Chain


@pytest.mark.parametrize(("between", "chains"), [([], 1), ([nn.ReLU()], 0)])
def test_two_layers_in_a_row(between: list[nn.Module], chains: int) -> None:
    model, x = nn.Sequential(nn.Linear(4, 6), *between, nn.Linear(6, 2)), torch.randn(8, 4)
    found = facts_of(training(model, lambda: model(x).square().mean())).facts(Chain)
    assert [(fact.first_layer.out, fact.second_layer.in_) for fact in found] == [(6, 6)] * chains


def test_an_output_that_something_else_uses_as_well() -> None:
    one, other, x = nn.Linear(4, 4), nn.Linear(4, 4), torch.randn(8, 4)

    def loss() -> torch.Tensor:
        hidden = one(x)
        return (other(hidden) + hidden.relu()).square().mean()

    assert not facts_of(training(nn.ModuleList([one, other]), loss)).facts(Chain)
