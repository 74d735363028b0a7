"""Answers that a model gave without a graph: does training learn from them?"""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from facts_of import facts_of
from paramedic.record.facts import EvalForward


@pytest.mark.parametrize("learnt_from", [True, False])
def test_what_becomes_of_an_answer(learnt_from: bool) -> None:
    model, x = nn.Sequential(nn.Linear(4, 3)), torch.randn(8, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step() -> None:
        with torch.no_grad():
            labels = model(x).softmax(1).argmax(1)
        optimizer.zero_grad()
        F.cross_entropy(model(x), labels if learnt_from else torch.zeros(8).long()).backward()
        optimizer.step()

    answers = facts_of(step).facts(EvalForward)
    assert answers and {"training" in call.uses for call in answers} == {learnt_from}
