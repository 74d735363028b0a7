"""A block without gradients after many steps like each other is worth a look: an evaluation may begin."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import FlatArgmax


def test_an_evaluation_after_many_steps_is_examined() -> None:
    model, x, labels = nn.Sequential(nn.Linear(4, 3)), torch.randn(8, 4), torch.arange(8) % 3
    learn = training(model, lambda: F.cross_entropy(model(x), labels))

    def program() -> None:
        for _ in range(200):
            learn()
        with torch.no_grad():
            (model(x).argmax() == labels).float().mean()

    assert facts_of(program, steps=1).facts(FlatArgmax)
