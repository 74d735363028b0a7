"""N × N values made of N and N, where no gradient shows it."""

from __future__ import annotations

import pytest
import torch
from torch import distributions, nn

from facts_of import facts_of, training
from paramedic.record.facts import Broadcast


@pytest.mark.parametrize("squeezed", [False, True])
def test_an_advantage_that_became_a_table(squeezed: bool) -> None:
    policy, critic, states, returns = nn.Linear(4, 3), nn.Linear(4, 1), torch.randn(8, 4), torch.randn(8)

    def loss() -> torch.Tensor:
        value = critic(states)
        advantage = returns - (value.squeeze(1) if squeezed else value).detach()
        chances = distributions.Categorical(logits=policy(states))
        return -(chances.log_prob(chances.sample()) * advantage).mean() + value.square().mean()

    run = facts_of(training(nn.ModuleList([policy, critic]), loss))
    told = [(fact.symbol, list(fact.result)) for fact in run.facts(Broadcast) if fact.answers]
    assert told == ([] if squeezed else [("-", [8, 8])])
