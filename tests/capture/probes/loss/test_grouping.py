"""Losses that compare samples with each other by their labels: do they want those of one class together?"""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from facts_of import facts_of
from paramedic.record.facts import Grouping, StepAsked
from paramedic.rules.asked_steps import driven_apart
from paramedic.settings import Settings

pytestmark = pytest.mark.usefixtures("alone")

ASKING = Settings(probes=True, budget=1.0)
Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def hardest(found: torch.Tensor, kinds: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    distances = (2 - 2 * found @ found.t()).clamp_min(1e-8).sqrt()
    same = kinds[:, None] == kinds[None, :]
    return distances.masked_fill(~same, -1e9).amax(1), distances.masked_fill(same, 1e9).amin(1)


def triplets(found: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
    mate, stranger = hardest(found, kinds)
    return F.relu(0.3 + mate - stranger).mean()


def swapped(found: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
    mate, stranger = hardest(found, kinds)
    return F.relu(0.3 + stranger - mate).mean()


def pairs(found: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
    squares = torch.cdist(found, found).square()
    same = (kinds[:, None] == kinds[None, :]).float()
    return (same * squares + (1 - same) * F.relu(1 - squares)).mean()


def supervised_contrast(found: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
    scores = (found @ found.t() / 0.2).masked_fill(torch.eye(len(kinds), dtype=torch.bool), -1e9).log_softmax(1)
    same = (kinds[:, None] == kinds[None, :]) & ~torch.eye(len(kinds), dtype=torch.bool)
    return -(scores * same).sum(1).div(same.sum(1).clamp_min(1)).mean()


def classes(found: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(8 * found, kinds)


class Embedder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.normalize(self.net(x), dim=1)


def asked(loss: Loss) -> tuple[list[Grouping | None], bool]:
    """What was found in each round, and whether the rule believes it."""
    torch.manual_seed(0)
    model = Embedder()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step() -> None:
        x, y = torch.randn(32, 5), torch.arange(32) % 6
        y = y[torch.randperm(32)]
        optimizer.zero_grad()
        value = loss(model(x), y)
        value.backward()
        optimizer.step()

    run = facts_of(step, steps=60, settings=ASKING)
    told = [target.grouping for fact in run.facts(StepAsked) for target in fact.targets]
    return told, bool(list(driven_apart(run)))


def test_a_loss_that_takes_classes_apart() -> None:
    told, believed = asked(swapped)
    assert len(told) == 2 and all(found is not None and found.apart is not None and found.apart > 2 for found in told)
    assert believed


@pytest.mark.parametrize("loss", [triplets, pairs, supervised_contrast, classes])
def test_a_loss_that_keeps_classes_together(loss: Loss) -> None:
    told, believed = asked(loss)
    assert told and all(found is None or found.apart is None or found.apart < 1.5 for found in told)
    assert not believed
