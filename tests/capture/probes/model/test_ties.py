"""Tied weights that are parted and trained as two."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Untied


class Language(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.head = nn.Embedding(9, 4), nn.Linear(4, 9, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.embedding(ids))


@pytest.mark.parametrize(("parted", "how"), [(True, ["assigned"]), (False, [])])
def test_a_head_that_is_replaced(parted: bool, how: list[str]) -> None:
    def program() -> None:
        model = Language()
        if parted:
            model.head.weight = nn.Parameter(torch.randn(9, 4))
        learn = training(model, lambda: model(torch.arange(9)).square().mean())
        for _ in range(3):
            learn()

    found = facts_of(program, steps=1).facts(Untied)
    assert [fact.how for fact in found] == how
    assert all(fact.numel == 36 and len(fact.names) == 2 for fact in found)
