"""A copy with BatchNorm layers: do its statistics follow as well?"""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Copy


@pytest.mark.parametrize("buffers", [True, False])
def test_the_statistics_of_a_copy(buffers: bool) -> None:
    model, x = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)), 5 + torch.randn(16, 4)
    shadow = copy.deepcopy(model).eval()
    learn = training(model, lambda: (model(x) - 1).square().mean())

    def step() -> None:
        learn()
        with torch.no_grad():
            for mine, theirs in zip(shadow.parameters(), model.parameters(), strict=True):
                mine.lerp_(theirs, 0.5)
            if buffers:
                for mine, theirs in zip(shadow.buffers(), model.buffers(), strict=True):
                    mine.copy_(theirs)
            shadow(x)

    found = facts_of(step, steps=4).facts(Copy)
    assert found and {fact.off > 0 for fact in found} == {buffers}
    assert {fact.batches == fact.source_batches for fact in found} == {buffers}


def test_the_trained_model_itself_is_no_copy() -> None:
    model, x = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)), torch.randn(16, 4)
    assert not facts_of(training(model, lambda: model(x).square().mean())).facts(Copy)
