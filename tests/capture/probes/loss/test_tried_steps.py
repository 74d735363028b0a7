"""Updates that are tried again on a copy, in parts and multiples: what they do to the loss of their own batch."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of
from paramedic.record.facts import StepTried
from paramedic.settings import Settings

pytestmark = pytest.mark.usefixtures("alone")

ASKING = Settings(probes=True, budget=1.0)


def tried(rate: float, *, maximize: bool = False) -> tuple[list[StepTried], list[torch.Tensor]]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, maximize=maximize)
    x = torch.randn(64, 5)
    y = x[:, :1] * 2

    def step() -> None:
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean() + 0.01 * sum(p.abs().sum() for p in model.parameters())
        loss.backward()
        optimizer.step()

    run = facts_of(step, steps=7, settings=ASKING)
    return run.facts(StepTried), [p.detach().clone() for p in model.parameters()]


def plain(rate: float) -> list[torch.Tensor]:
    """The same training without anybody watching."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    x = torch.randn(64, 5)
    y = x[:, :1] * 2
    for _ in range(7):
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean() + 0.01 * sum(p.abs().sum() for p in model.parameters())
        loss.backward()
        optimizer.step()
    return [p.detach() for p in model.parameters()]


def test_a_good_step_lowers_the_loss_of_its_batch_and_leaves_the_weights_alone() -> None:
    found, weights = tried(0.01)
    assert len(found) == 2 and all(t.reason is None and t.same and t.passes == 1 for t in found)
    for t in found:
        assert t.losses[0] > t.losses[1] > t.losses[2] and t.losses[2] < t.loss
        assert t.downhill == pytest.approx(1.0, abs=1e-4)
    assert all(torch.equal(a, b) for a, b in zip(weights, plain(0.01), strict=True))


def test_a_step_that_is_too_large_raises_it() -> None:
    found, _ = tried(30.0)
    first = found[0]
    assert first.losses[2] > 10 * first.loss and first.slope < 0


def test_a_step_up_the_slope() -> None:
    found, _ = tried(0.01, maximize=True)
    assert all(t.losses[2] > t.loss and t.downhill < -0.99 for t in found)
