"""Functional dropout: is it tied to train() and eval()?"""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Dropout


class Net(nn.Module):
    def __init__(self, tied: bool) -> None:
        super().__init__()
        self.layer, self.tied = nn.Linear(4, 2), tied

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.dropout(self.layer(x), 0.25, training=self.training) if self.tied else F.dropout(self.layer(x), 0.25)


@pytest.mark.parametrize("tied", [True, False])
def test_the_mode_that_a_call_is_told(tied: bool) -> None:
    model, x = Net(tied), torch.randn(8, 4)
    learn = training(model, lambda: model(x).square().mean())

    def step() -> None:
        model.train()
        learn()
        model.eval()
        with torch.no_grad():
            model(x)

    found = facts_of(step).facts(Dropout)
    assert {(fact.p, fact.explicit, fact.caller, fact.through_module) for fact in found} == {(0.25, tied, "Net", False)}
    in_eval = [fact.training for fact in found if fact.caller_training is False]
    assert in_eval == [not tied]


def test_a_module_passes_its_own_mode_on() -> None:
    model, x = nn.Sequential(nn.Linear(4, 2), nn.Dropout()), torch.randn(8, 4)
    found = facts_of(training(model, lambda: model(x).square().mean())).facts(Dropout)
    assert all(fact.through_module for fact in found)
