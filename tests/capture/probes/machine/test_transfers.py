"""Calls that make the host wait for a device."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Sync


def waits(device: str) -> list[str]:
    model, x = nn.Linear(4, 1).to(device), torch.randn(8, 4, device=device)
    learn = training(model, lambda: model(x).square().mean())

    def step() -> None:
        learn()
        model.weight.sum().item()

    return [fact.call for fact in facts_of(step).facts(Sync)]


def test_on_the_host_nobody_waits() -> None:
    assert waits("cpu") == []


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
def test_a_number_that_is_read_from_a_device() -> None:
    assert waits("cuda") == [".item()"]
