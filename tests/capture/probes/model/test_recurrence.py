"""A state that is carried on after a backward pass went through it."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of
from paramedic.record.facts import CarriedState


@pytest.mark.parametrize("detached", [True, False])
def test_a_state_from_one_step_to_the_next(detached: bool) -> None:
    model, x = nn.RNN(4, 4, batch_first=True), torch.randn(2, 3, 4)
    optimizer, state = torch.optim.SGD(model.parameters(), lr=0.0), torch.zeros(1, 2, 4)

    def step() -> None:
        nonlocal state
        output, state = model(x, state.detach() if detached else state)
        optimizer.zero_grad()
        output.square().mean().backward(retain_graph=True)
        optimizer.step()

    assert [fact.class_ for fact in facts_of(step).facts(CarriedState)] == ([] if detached else ["RNN"])
