"""Tables that reach a first layer, column by column."""

from __future__ import annotations

import torch
from torch import nn

from facts_of import facts_of
from paramedic.record.facts import Columns


def table(x: torch.Tensor) -> list[Columns]:
    model = nn.Linear(x.shape[1], 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step() -> None:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

    return facts_of(step, steps=2).facts(Columns, phase="train")


def test_a_value_that_is_repeated_at_the_edge() -> None:
    x = torch.linspace(0.9, 1.0, 40).repeat(2, 1).T.clone()
    x[:4, 1] = 0.0
    [found] = table(x)
    assert found.rows == 80
    assert (found.low[1], found.low_rows[1]) == (0.0, 8)
    assert round(found.after_low[1], 2) == 0.91
    assert found.low_rows[0] == 2
    assert found.lower_quartile[1] > 0.9


def test_wide_inputs_are_no_tables() -> None:
    assert not table(torch.randn(8, 300))
