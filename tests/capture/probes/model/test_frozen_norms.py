"""BatchNorm layers with frozen weights whose statistics move."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import NormDrift


@pytest.mark.parametrize(
    ("offset", "in_train", "frozen", "told"), [(5.0, True, True, 1), (5.0, False, True, 0), (5.0, True, False, 0)]
)
def test_statistics_that_leave_their_place(offset: float, in_train: bool, frozen: bool, told: int) -> None:
    norm = nn.BatchNorm1d(4).requires_grad_(not frozen)
    model, x = nn.Sequential(norm, nn.Linear(4, 1)), torch.randn(32, 4) + offset
    norm.train(in_train)
    optimizer = torch.optim.SGD(model[1].parameters(), lr=0.01)
    found = facts_of(training(model, lambda: model(x).square().mean(), optimizer), steps=4).facts(NormDrift)
    assert [fact.norms for fact in found] == [1] * told
    assert all(fact.furthest > 0.5 for fact in found)


def test_statistics_that_stay() -> None:
    norm = nn.BatchNorm1d(4, momentum=1.0).requires_grad_(False)
    model, x = nn.Sequential(norm, nn.Linear(4, 1)), torch.randn(32, 4)
    optimizer = torch.optim.SGD(model[1].parameters(), lr=0.01)
    [fact] = facts_of(training(model, lambda: model(x).square().mean(), optimizer), steps=4).facts(NormDrift)
    assert fact.furthest < 1e-3
