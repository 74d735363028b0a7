"""What the program calls the class that its loss ignores."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import IgnoredClass

X = torch.randn(12, 4)
LABELS = torch.arange(12) % 3


@pytest.mark.parametrize(
    ("table", "ignored", "names"),
    [
        ({"O": 0, "PER": 1, "LOC": 2}, 0, {("O", "numbers")}),
        ({0: "O", 1: "PER", 2: "LOC"}, 1, {("PER", "numbers")}),
        ({"O": 0, "PER": 1, "LOC": 2}, -100, set()),
        ({"PER": 1, "LOC": 2}, 0, set()),  # numbers other classes than the loss has
    ],
)
def test_the_name_comes_from_a_table_of_all_classes(
    table: dict[object, object], ignored: int, names: set[tuple[str, str]]
) -> None:
    model = nn.Linear(4, 3)
    learn = training(model, lambda: F.cross_entropy(model(X), LABELS, ignore_index=ignored))

    def step() -> None:
        numbers = table
        learn()
        assert numbers

    found = facts_of(step, steps=3).facts(IgnoredClass)
    assert {(fact.name, fact.table) for fact in found} == names
