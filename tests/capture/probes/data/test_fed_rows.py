"""Rows that are evaluated without a loader: were they trained on?"""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import FedRows

ROWS = torch.randn(64, 6, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(("held_out", "shared"), [(ROWS[24:40], {8}), (ROWS[32:48], set())])
def test_rows_on_both_sides(held_out: torch.Tensor, shared: set[int]) -> None:
    model, train = nn.Sequential(nn.Linear(6, 1)), ROWS[:32]
    learn = training(model, lambda: model(train).square().mean())

    def step() -> None:
        model.train()
        learn()
        model.eval()
        with torch.no_grad():
            model(held_out)

    assert {fact.shared for fact in facts_of(step, steps=4).facts(FedRows)} == shared
