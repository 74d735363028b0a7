"""Losses that contain those of earlier steps."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of
from paramedic.record.facts import LossOfEarlierSteps


@pytest.mark.parametrize("kept", [True, False])
def test_a_sum_that_is_never_emptied(kept: bool) -> None:
    model, x = nn.Linear(4, 1), torch.randn(8, 4)
    optimizer, total = torch.optim.SGD(model.parameters(), lr=0.0), torch.zeros(())

    def step() -> None:
        nonlocal total
        loss = model(x).mean()  # its backward pass needs no value of the weights, so that it can be repeated
        total = total + loss if kept else loss
        optimizer.zero_grad()
        total.backward(retain_graph=True)
        optimizer.step()

    assert bool(facts_of(step).facts(LossOfEarlierSteps)) == kept
