"""Terms of a loss that are plain numbers."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import ConstantTerm


@pytest.mark.parametrize("item", [True, False])
def test_a_penalty_that_was_turned_into_a_number(item: bool) -> None:
    model, x = nn.Linear(4, 1), torch.randn(8, 4)

    def loss() -> torch.Tensor:
        penalty = model.weight.abs().sum()
        return model(x).square().mean() + 0.1 * (penalty.item() if item else penalty)

    found = facts_of(training(model, loss), steps=5).facts(ConstantTerm)
    assert [fact.cut for fact in found] == ([".item()"] if item else [])
