"""Two losses for one optimizer, of which a GradScaler scales both or one."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of
from paramedic.record.facts import UnscaledPass


@pytest.mark.parametrize("both", [False, True])
def test_a_loss_that_goes_back_beside_the_scaler(both: bool) -> None:
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)

    def step() -> None:
        optimizer.zero_grad()
        scaler.scale(model(torch.ones(8, 4)).square().mean()).backward()
        penalty = model.weight.square().sum()
        (scaler.scale(penalty) if both else penalty).backward()
        scaler.step(optimizer)
        scaler.update()

    found = facts_of(step).facts(UnscaledPass)
    assert {fact.scale for fact in found} == (set() if both else {1024.0})
