"""Units that never fire, and values at the ends of their range."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Units


@pytest.mark.parametrize(
    ("activation", "bias", "alive", "pinned"),
    [
        (nn.ReLU(), -100.0, 0, False),
        (nn.ReLU(), 0.0, 6, False),
        (nn.Tanh(), 100.0, None, True),
        (nn.Tanh(), 0.0, 6, False),
    ],
)
def test_what_units_do(activation: nn.Module, bias: float, alive: int | None, pinned: bool) -> None:
    torch.manual_seed(0)
    model, x = nn.Sequential(nn.Linear(4, 6), activation, nn.Linear(6, 1)), torch.randn(64, 4)
    nn.init.constant_(model[0].bias, bias)
    found = facts_of(training(model, lambda: model(x).square().mean())).facts(Units)
    assert found and {(fact.op, fact.units) for fact in found} == {(type(activation).__name__.lower(), 6)}
    assert alive is None or {fact.alive for fact in found} == {alive}
    assert {fact.pinned > 0.9 for fact in found} == {pinned}


def test_activations_of_a_loss_are_no_units() -> None:
    model, x = nn.Linear(4, 6), torch.randn(8, 4)
    assert not facts_of(training(model, lambda: model(x).relu().mean())).facts(Units)
