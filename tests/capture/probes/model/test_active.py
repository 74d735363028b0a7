"""Questions put to a copy of the model after a few steps."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Asked
from paramedic.settings import Settings


class OverTheBatch(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x).softmax(0)


def asked(model: nn.Module, *, probes: bool = True) -> list[Asked]:
    x, y = torch.randn(8, 4), torch.arange(8) % 3
    step = training(model, lambda: F.cross_entropy(model(x), y))
    return facts_of(step, steps=8, settings=Settings(probes=probes, budget=1.0)).facts(Asked)


@pytest.mark.usefixtures("alone")
def test_samples_that_depend_on_each_other() -> None:
    [found] = asked(OverTheBatch())
    assert found.reason is None and found.size == 8
    assert found.mixing is not None and found.mixing.gap > 0.01
    [found] = asked(nn.Sequential(nn.Linear(4, 3)))
    assert found.mixing is not None and found.mixing.gap == 0


def test_nothing_is_asked_where_that_is_not_wanted() -> None:
    [found] = asked(OverTheBatch(), probes=False)
    assert found.mixing is None and found.reason is not None and "--no-probes" in found.reason
