"""What takes the place of something that is gone is described on its own, though its id may be the same."""

import torch
from torch import nn

from facts_of import facts_of
from paramedic.record.facts import Model, Optimizer

X = torch.randn(8, 3)


def test_every_optimizer_is_described() -> None:
    model = nn.Linear(3, 1)

    def step() -> None:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        model(X).sum().backward()
        optimizer.step()

    assert [fact.number for fact in facts_of(step, steps=4).facts(Optimizer)] == [0, 1, 2, 3]


def test_every_model_is_described() -> None:
    def step() -> None:
        model = nn.Linear(3, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        model(X).sum().backward()
        optimizer.step()

    assert len(facts_of(step, steps=4).facts(Model)) == 4
