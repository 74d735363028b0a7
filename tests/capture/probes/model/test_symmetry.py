"""Weights whose rows are all alike, and stay so."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Symmetry


@pytest.mark.parametrize("constant", [True, False])
def test_rows_that_begin_alike(constant: bool) -> None:
    x = torch.randn(8, 4)

    def program() -> None:
        model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1))
        if constant:
            for layer in (model[0], model[2]):
                nn.init.constant_(layer.weight, 0.1)
                nn.init.zeros_(layer.bias)
        learn = training(model, lambda: (model(x) - 1).square().mean())
        for _ in range(3):
            learn()

    found = facts_of(program, steps=1).facts(Symmetry)
    assert {(fact.rows, fact.zero, fact.gradient_alike) for fact in found} == (
        {(6, False, True)} if constant else set()
    )
    assert all(fact.made_at.line for fact in found)
