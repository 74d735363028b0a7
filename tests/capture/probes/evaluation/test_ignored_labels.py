"""Right answers that are counted where the loss ignores the label."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import IgnoredCounted

X = torch.randn(6, 3)
LABELS = torch.tensor([1, 2, 0, 1, 0, 0])


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (lambda right: right.sum().item(), True),
        (lambda right: right.float().mean().item(), True),
        (lambda right: right[LABELS != 0].sum().item(), False),
        (lambda right: (right & (LABELS != 0)).sum().item(), False),
    ],
)
def test_sums_over_all_positions(count: Callable[[torch.Tensor], float], told: bool) -> None:
    model = nn.Linear(3, 3)
    learn = training(model, lambda: nn.functional.cross_entropy(model(X), LABELS, ignore_index=0))

    def step() -> None:
        learn()
        with torch.no_grad():
            count(LABELS.clone() == LABELS)

    found = facts_of(step, steps=3).facts(IgnoredCounted)
    assert [(fact.ignore_index, fact.right, fact.ignored) for fact in found] == ([(0, 6, 3)] * 3 if told else [])
