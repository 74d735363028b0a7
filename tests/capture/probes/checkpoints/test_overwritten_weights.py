"""Loaded weights that are gone when the training begins."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Overwritten


@pytest.mark.parametrize("again", [True, False])
def test_an_initialisation_after_the_load(again: bool) -> None:
    state = nn.Linear(16, 16).state_dict()

    def program() -> None:
        model = nn.Linear(16, 16)
        model.load_state_dict(state)
        if again:
            nn.init.xavier_normal_(model.weight)
        training(model, lambda: model(torch.ones(4, 16)).square().mean())()

    [found] = facts_of(program, steps=1).facts(Overwritten)
    assert list(found.names) == ["weight"] and (max(found.likeness) < 0.5) is again
