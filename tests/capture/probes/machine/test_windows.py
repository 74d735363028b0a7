"""How long the parts of the loop took."""

from __future__ import annotations

import time

import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Time


def test_every_step_is_in_one_of_the_windows() -> None:
    model = nn.Linear(4, 1)
    learn = training(model, lambda: model(torch.ones(8, 4)).square().mean())
    found = facts_of(learn, steps=30).facts(Time)
    assert 28 <= sum(fact.steps for fact in found) <= 30
    assert all(fact.seconds > 0 and fact.parts for fact in found) and {fact.device for fact in found} == {"cpu"}


def test_a_program_without_steps_has_no_windows() -> None:
    assert not facts_of(lambda: time.sleep(0.01)).facts(Time)
