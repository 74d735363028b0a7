"""Class numbers as the target of a distance."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import ClassTarget, LossCall

X = torch.randn(32, 4)


@pytest.mark.parametrize(("target", "classes"), [((torch.arange(32) % 3).float(), [3]), (X.sum(1), [])])
def test_class_numbers_are_told_from_quantities(target: torch.Tensor, classes: list[int]) -> None:
    model = nn.Linear(4, 1)
    run = facts_of(training(model, lambda: F.mse_loss(model(X).squeeze(1), target)))
    assert {call.function for call in run.facts(LossCall)} == {"mse_loss"}
    assert [fact.classes for fact in run.facts(ClassTarget)][:1] == classes
