"""Weights that are evaluated instead of the trained ones: how far have they come?"""

from __future__ import annotations

import copy

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import WayGone


@pytest.mark.parametrize(("rate", "far"), [(0.001, False), (1.0, True)])
def test_how_far_an_average_has_come(rate: float, far: bool) -> None:
    model, x = nn.Sequential(nn.Linear(4, 4)), torch.randn(16, 4)
    shadow = copy.deepcopy(model).eval()
    learn = training(model, lambda: (model(x) - 1).square().mean())

    def step() -> None:
        learn()
        with torch.no_grad():
            for mine, theirs in zip(shadow.parameters(), model.parameters(), strict=True):
                mine.lerp_(theirs, rate)
            shadow(x)

    found = facts_of(step, steps=6).facts(WayGone)
    assert found and {fact.share > 0.5 for fact in found[1:]} == {far}
