"""A dropout probability that forward() overwrites on its own module."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import OverwrittenProbability


class Net(nn.Module):
    def __init__(self, keeps: bool) -> None:
        super().__init__()
        self.layer, self.dropout, self.keeps = nn.Linear(4, 2), 0.5, keeps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        p = self.dropout
        if not self.training:
            p = 0.0
            if not self.keeps:
                self.dropout = 0.0
        return F.dropout(self.layer(x), p)


@pytest.mark.parametrize("keeps", [True, False])
def test_an_evaluation_that_turns_dropout_off_for_good(keeps: bool) -> None:
    model, x = Net(keeps), torch.randn(8, 4)
    learn = training(model, lambda: model(x).square().mean())

    def step() -> None:
        model.train()
        learn()
        model.eval()
        with torch.no_grad():
            model(x)

    found = facts_of(step, steps=4).facts(OverwrittenProbability)
    assert [(f.attribute, f.before, f.after) for f in found] == ([] if keeps else [("dropout", 0.5, 0.0)])
