"""A step on the gradients of two passes, one of which served another optimizer."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of
from paramedic.record.facts import Mixture


@pytest.mark.parametrize("cleared", [False, True])
def test_gradients_that_the_critic_left_in_the_generator(cleared: bool) -> None:
    generator, critic, noise = nn.Linear(2, 4), nn.Linear(4, 1), torch.randn(16, 2)
    one = torch.optim.SGD(generator.parameters(), lr=0.01)
    other = torch.optim.SGD(critic.parameters(), lr=0.01)

    def step() -> None:
        other.zero_grad()
        one.zero_grad()
        critic(generator(noise)).mean().backward()
        other.step()
        if cleared:
            one.zero_grad()
        (-critic(generator(noise)).mean()).backward()
        one.step()

    found = facts_of(step, steps=4).facts(Mixture)
    assert bool(found) != cleared
    assert all(fact.cosine < 0 for fact in found), "the two passes pull in opposite directions"
