"""Answers of a model that the loss does not use, and batches that are picked from memory by index."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from facts_of import facts_of
from paramedic.record.facts import StepAsked
from paramedic.settings import Settings

pytestmark = pytest.mark.usefixtures("alone")


class Towers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one, self.other = nn.Linear(4, 3), nn.Linear(5, 3)

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.one(a), self.other(b)


def asked(how: str) -> StepAsked:
    torch.manual_seed(0)
    model = Towers()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    ones, others = torch.randn(100, 4), torch.randn(100, 5)

    def step() -> None:
        chosen = torch.randint(100, (20,))
        a, b = model(ones[chosen], others[chosen])
        if how == "twice":
            b = a
        elif how == "detached":
            b = b.detach()
        loss = F.cross_entropy(a @ b.T, torch.arange(20))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    [told] = facts_of(step, steps=7, settings=Settings(probes=True, budget=1.0)).facts(StepAsked)
    assert told.reason is None
    return told


def test_an_answer_that_the_loss_does_not_use() -> None:
    told = asked("twice")
    [call] = told.calls
    assert call.used == [True, False] and told.idle == ["others[chosen]"]


@pytest.mark.parametrize("how", ["both", "detached"])
def test_answers_that_it_uses(how: str) -> None:
    told = asked(how)
    [call] = told.calls
    assert call.used == [True, True] and not told.idle
    assert told.inputs == ["ones[chosen]", "others[chosen]"]
