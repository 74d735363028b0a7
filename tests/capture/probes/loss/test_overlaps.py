"""Terms that are called an overlap."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import OverlapTerm

X, MASKS = torch.randn(8, 6), (torch.rand(8, 6) > 0.5).float()


@pytest.mark.parametrize(("sign", "slope"), [(-1, -1), (1, 1)])
def test_whether_dice_is_made_larger(sign: int, slope: int) -> None:
    model = nn.Linear(6, 6)

    def loss() -> torch.Tensor:
        chance = model(X).sigmoid()
        dice = 2 * (chance * MASKS).sum(1) / (chance.sum(1) + MASKS.sum(1) + 1)
        return sign * dice.mean()

    found = facts_of(training(model, loss)).facts(OverlapTerm)
    assert {(fact.name, fact.slope, fact.between_outputs) for fact in found} == {("dice", slope, False)}
    assert all(fact.max <= 1 for fact in found)


def test_a_quotient_of_another_name() -> None:
    model = nn.Linear(6, 6)

    def loss() -> torch.Tensor:
        share = model(X).square().sum() / model(MASKS).square().sum()
        return share.mean()

    assert not facts_of(training(model, loss)).facts(OverlapTerm)
