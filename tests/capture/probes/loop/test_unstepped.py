"""Optimizers that never step."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of
from paramedic.record.facts import Unstepped


@pytest.mark.parametrize(("steps", "by_hand", "told"), [(False, False, ["Adam"]), (True, False, []), (False, True, [])])
def test_an_optimizer_that_never_steps(steps: bool, by_hand: bool, told: list[str]) -> None:
    model, x = nn.Linear(4, 1), torch.randn(8, 4)

    def program() -> None:
        optimizer = torch.optim.Adam(model.parameters())
        for _ in range(4):
            optimizer.zero_grad()
            model(x).square().mean().backward()
            if steps:
                optimizer.step()
            if by_hand:
                with torch.no_grad():
                    model.weight -= 0.1 * model.weight.grad

    assert [fact.class_ for fact in facts_of(program, steps=1).facts(Unstepped)] == told
