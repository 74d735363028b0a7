"""Evaluations asked again with their inputs prepared in other ways."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import EvaluationAsked
from paramedic.settings import Settings

pytestmark = pytest.mark.usefixtures("alone")


@pytest.mark.parametrize("probes", [True, False])
def test_inputs_that_were_scaled_in_training_only(probes: bool) -> None:
    torch.manual_seed(0)
    labels = torch.arange(64) % 2
    raw = torch.randn(64, 4) + labels[:, None] * 4
    scaled = (raw - raw.mean(0)) / raw.std(0)
    model = nn.Sequential(nn.Linear(4, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    learn = training(model, lambda: F.cross_entropy(model(scaled), labels), optimizer)

    def step() -> None:
        model.train()
        learn()
        model.eval()
        with torch.no_grad():
            (model(raw * 50 + 300).argmax(1) == labels).float().mean()

    found = facts_of(step, steps=24, settings=Settings(probes=probes, budget=0.0)).facts(EvaluationAsked)
    assert bool(found) == probes
    for fact in found:
        assert fact.rows == 64 and fact.majority == 0.5
        assert max(share or 0 for share in fact.right.values()) > fact.right["as it is"] + 0.3
        assert fact.trained.standardised == 1 and fact.given.standardised == 0
