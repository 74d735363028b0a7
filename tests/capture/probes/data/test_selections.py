"""Parts of a data set, and a transform that was exchanged after they were made."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset

from facts_of import facts_of, training
from paramedic.capture.probes.data.selections import prints
from paramedic.record.facts import ExchangedTransform, Selection


class Pictures(Dataset[torch.Tensor]):
    def __init__(self, transform: Callable[[torch.Tensor], torch.Tensor]) -> None:
        self.values, self.transform = torch.randn(16, 3), transform

    def __len__(self) -> int:
        return 16

    def __getitem__(self, index: int) -> torch.Tensor:
        return self.transform(self.values[index])


@pytest.mark.parametrize("exchanged", [True, False])
def test_a_transform_that_both_parts_get(exchanged: bool) -> None:
    model = nn.Linear(3, 1)

    def program() -> None:
        whole = Pictures(torch.abs)
        train, test = Subset(whole, range(12)), Subset(whole, range(12, 16))
        if exchanged:
            test.dataset.transform = torch.neg
        for x in DataLoader(train, batch_size=4):
            training(model, lambda x=x: model(x).square().mean())()

    run = facts_of(program, steps=1)
    told = {(fact.attribute, *fact.through) for fact in run.facts(ExchangedTransform)}
    assert told == ({("transform", "test")} if exchanged else set())
    assert not run.facts(Selection), "nobody to compare the split with: this process trains alone"


def test_what_a_data_set_holds_tells_it_from_others() -> None:
    one = Pictures(torch.abs)
    other = Pictures(torch.abs)
    assert prints(one) == prints(one) != prints(other)
    assert prints(one)["values"][1], "which tells samples apart"
