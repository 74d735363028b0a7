"""Targets that the model is given."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import GivenTarget

X = torch.randn(16, 5)


@pytest.mark.parametrize(("target", "given"), [(X[:, -1].clone(), True), (X.sum(1), False)])
def test_whether_the_last_column_is_the_target(target: torch.Tensor, given: bool) -> None:
    model = nn.Linear(5, 1)
    found = facts_of(training(model, lambda: F.mse_loss(model(X).squeeze(1), target))).facts(GivenTarget)
    assert {(fact.columns, fact.given) for fact in found} == {(5, given)}


def test_classes_may_be_told_by_many_columns() -> None:
    model, x = nn.Linear(5, 1), X.round().clamp(0, 1)
    [found] = facts_of(training(model, lambda: F.mse_loss(model(x).squeeze(1), x[:, -1]))).facts(GivenTarget)
    assert found.given and found.various < 0.2
