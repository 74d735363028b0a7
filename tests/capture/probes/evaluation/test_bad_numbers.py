"""NaN in an evaluation: the line that made it is named."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import NonFinite
from paramedic.settings import Settings

pytestmark = pytest.mark.usefixtures("alone")


@pytest.mark.parametrize("low", [0.0, 0.5])
def test_a_logarithm_of_zero_in_a_validation_loss(low: float) -> None:
    model, x = nn.Linear(3, 1), torch.randn(8, 3)
    learn = training(model, lambda: model(x).square().mean())

    def step() -> None:
        learn()
        with torch.no_grad():
            loss = (torch.full((4,), low) * torch.full((4,), low).log()).mean()
            float(loss)

    run = facts_of(step, settings=Settings(probes=True, budget=0.0))
    told = {(fact.reached, fact.op, fact.where.line is not None) for fact in run.facts(NonFinite)}
    assert told == ({("evaluation", "log", True)} if low == 0 else set())


def test_an_answer_that_is_not_a_number() -> None:
    model = nn.Linear(3, 2)
    learn = training(model, lambda: F.mse_loss(model(torch.ones(4, 3)), torch.zeros(4, 2)))

    def step() -> None:
        learn()
        with torch.no_grad():
            F.cross_entropy(model(torch.ones(4, 3)) * float("inf") * 0, torch.zeros(4).long())

    assert facts_of(step, settings=Settings(probes=True, budget=0.0)).facts(NonFinite)
