"""A scheduler made for a restored optimizer: does it keep the learning rate?"""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.optim import lr_scheduler

from facts_of import facts_of, training
from paramedic.record.facts import Resumed


@pytest.mark.parametrize("restored", [True, False])
def test_the_rate_that_the_next_step_uses(restored: bool) -> None:
    saved = torch.optim.SGD(nn.Linear(4, 1).parameters(), lr=0.001).state_dict()

    def program() -> None:
        model = nn.Linear(4, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        if restored:
            optimizer.load_state_dict(saved)
        lr_scheduler.LinearLR(optimizer, 0.5)
        training(model, lambda: model(torch.ones(4, 4)).square().mean(), optimizer)()

    found = facts_of(program, steps=1).facts(Resumed)
    assert [(fact.class_, list(fact.restored), list(fact.used)) for fact in found] == (
        [("LinearLR", [0.001], [0.0005])] if restored else []
    )
