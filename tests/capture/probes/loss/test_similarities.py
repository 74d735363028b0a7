"""Branches compared by a cosine, and samples that do not belong together."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Similarity


@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("collapsed", [True, False])
def test_strangers_are_alike_once_everything_is(both: bool, collapsed: bool) -> None:
    model, x = nn.Linear(4, 4), torch.eye(4)
    with torch.no_grad():
        model.weight.copy_(torch.zeros(4, 4) if collapsed else torch.eye(4))
        model.bias.copy_(torch.ones(4) if collapsed else torch.zeros(4))

    def loss() -> torch.Tensor:
        other = model(x)
        return -nn.functional.cosine_similarity(model(x), other if both else other.detach(), dim=1).mean()

    found = facts_of(training(model, loss), steps=2).facts(Similarity)
    assert [fact.both for fact in found] == [both, both]
    assert found[0].partners == pytest.approx(1, abs=1e-4)
    assert found[0].strangers == pytest.approx(1 if collapsed else 0, abs=1e-3)
