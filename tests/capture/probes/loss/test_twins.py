"""Two branches of a loss that are the same."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import TwinBranches, TwinInputs


@pytest.mark.parametrize("same", [True, False])
def test_two_views_that_are_one(same: bool) -> None:
    model, view = nn.Linear(8, 4), torch.randn(16, 8)
    other = view.clone() if same else torch.randn(16, 8)

    def loss() -> torch.Tensor:
        return (model(view) - model(other)).square().mean()

    run = facts_of(training(model, loss))
    assert {fact.same for fact in run.facts(TwinBranches)} == {same}
    assert {(fact.first, fact.second, fact.same) for fact in run.facts(TwinInputs)} == {("view", "other", same)}
