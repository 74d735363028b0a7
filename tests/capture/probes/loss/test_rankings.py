"""Distances to positive and negative examples."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import RankedDistance

ANCHOR, NEAR, FAR = torch.randn(3, 12, 4)


@pytest.mark.parametrize("swapped", [False, True])
def test_which_distance_is_made_smaller(swapped: bool) -> None:
    model = nn.Linear(4, 4)

    def loss() -> torch.Tensor:
        pos = (model(ANCHOR) - model(NEAR)).pow(2).sum(1)
        neg = (model(ANCHOR) - model(FAR)).pow(2).sum(1)
        return (neg - pos if swapped else pos - neg).add(100).relu().mean()

    found = facts_of(training(model, loss)).facts(RankedDistance)
    slope = -1 if swapped else 1
    assert {(fact.side, fact.slope) for fact in found} == {("pos", slope), ("neg", -slope)}


def test_distances_of_other_names() -> None:
    model = nn.Linear(4, 4)

    def loss() -> torch.Tensor:
        left = (model(ANCHOR) - model(NEAR)).pow(2).sum(1)
        right = (model(ANCHOR) - model(FAR)).pow(2).sum(1)
        return (left - right).mean()

    assert not facts_of(training(model, loss)).facts(RankedDistance)
