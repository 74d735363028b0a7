"""Parts that make an answer beside others."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Offered


class Two(nn.Module):
    def __init__(self, both: bool) -> None:
        super().__init__()
        self.body, self.head, self.pooler, self.both = nn.Linear(4, 4), nn.Linear(4, 2), nn.Linear(4, 3), both

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        hidden = self.body(x).relu()
        return (self.head(hidden), self.pooler(hidden)) if self.both else (self.head(hidden),)


@pytest.mark.parametrize(("both", "parts"), [(True, {"head", "pooler"}), (False, set())])
def test_which_parts_offer_an_answer(both: bool, parts: set[str]) -> None:
    model, x = Two(both), torch.randn(8, 4)
    found = facts_of(training(model, lambda: model(x)[0].square().mean())).facts(Offered)
    assert {(fact.where.module or "").rpartition(".")[2] for fact in found} == parts
