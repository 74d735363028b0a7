"""Targets that are the series itself, at the same place or one later."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Forecast

SERIES = torch.randn(8, 21)


@pytest.mark.parametrize(
    ("target", "shares"),
    [(SERIES[:, :-1], (1.0, 0.0)), (SERIES[:, 1:], (0.0, 1.0)), (torch.randn(8, 20), (0.0, 0.0))],
)
def test_where_the_target_stands_in_the_series(target: torch.Tensor, shares: tuple[float, float]) -> None:
    model, x = nn.Linear(20, 20), SERIES[:, :-1]
    found = facts_of(training(model, lambda: F.mse_loss(model(x), target))).facts(Forecast)
    assert {(round(fact.same, 1), round(fact.next, 1)) for fact in found} == {shares}
