"""In-place calls, told only where a backward pass has failed because of one."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Ended, InPlace


@pytest.mark.parametrize("in_place", [True, False])
def test_the_call_that_a_backward_pass_failed_of(in_place: bool) -> None:
    model, x = nn.Linear(4, 4), torch.randn(8, 4)

    def loss() -> torch.Tensor:
        hidden = model(x).exp()
        total = hidden.square().sum()
        if in_place:
            hidden.mul_(2)
        return total

    run = facts_of(training(model, loss))
    assert [(fact.function, list(fact.shape)) for fact in run.facts(InPlace)] == (
        [("mul_", [8, 4])] if in_place else []
    )
    assert bool(run.facts(Ended)) == in_place
