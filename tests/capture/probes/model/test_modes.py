"""Switches between train() and eval()."""

from __future__ import annotations

import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Mode


def test_the_outermost_switch_is_told_and_its_children_are_not() -> None:
    model, x = nn.Sequential(nn.Linear(4, 4), nn.Dropout(), nn.Linear(4, 1)), torch.randn(8, 4)
    learn = training(model, lambda: model(x).square().mean())

    def step() -> None:
        model.train()
        learn()
        model.eval()

    found = facts_of(step).facts(Mode)
    assert [(fact.training, fact.class_) for fact in found] == [(True, "Sequential"), (False, "Sequential")]
    assert not facts_of(learn).facts(Mode)
