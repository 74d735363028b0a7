"""The weight of a policy's log-probability: a plain number, or the critic once more."""

from __future__ import annotations

import pytest
import torch
from torch import distributions, nn

from facts_of import facts_of, training
from paramedic.record.facts import AdvantageWithGraph


@pytest.mark.parametrize("detached", [False, True])
def test_an_advantage_that_trains_the_critic(detached: bool) -> None:
    policy, critic, states, returns = nn.Linear(4, 3), nn.Linear(4, 1), torch.randn(16, 4), torch.randn(16)

    def loss() -> torch.Tensor:
        chances = distributions.Categorical(logits=policy(states))
        value = critic(states).squeeze(1)
        advantage = returns - (value.detach() if detached else value)
        return -(chances.log_prob(chances.sample()) * advantage).mean() + (returns - value).square().mean()

    found = facts_of(training(nn.ModuleDict({"policy": policy, "critic": critic}), loss)).facts(AdvantageWithGraph)
    assert [fact.tensors for fact in found] == ([] if detached else [2])
