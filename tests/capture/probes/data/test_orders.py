"""The order in which a loader that shuffles gives its samples, pass by pass."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from facts_of import facts_of, training
from paramedic.record.facts import Order

DATA = TensorDataset(torch.randn(32, 3))


def orders(loader: DataLoader, *, tell: bool = False) -> list[Order]:
    model = nn.Linear(3, 1)

    def program() -> None:
        for epoch in range(3):
            if tell:
                loader.sampler.set_epoch(epoch)
            for (x,) in loader:
                training(model, lambda x=x: model(x).square().mean())()

    return facts_of(program, steps=1).facts(Order)


def test_a_random_sampler_draws_a_new_order_by_itself() -> None:
    found = orders(DataLoader(DATA, batch_size=8, shuffle=True))
    assert [(fact.pass_, fact.sampler, fact.told) for fact in found] == [(n, "RandomSampler", False) for n in range(3)]
    assert len({tuple(fact.first) for fact in found}) == 3


@pytest.mark.parametrize("tell", [True, False])
def test_a_distributed_sampler_has_to_be_told_the_epoch(tell: bool) -> None:
    sampler = DistributedSampler(DATA, num_replicas=2, rank=0)
    found = orders(DataLoader(DATA, batch_size=8, sampler=sampler), tell=tell)
    assert [(fact.epoch, fact.set) for fact in found] == ([(0, 1), (1, 2), (2, 3)] if tell else [(0, 0)] * 3)
    assert len({tuple(fact.first) for fact in found}) == (3 if tell else 1)


def test_a_loader_in_order_has_none_to_tell() -> None:
    assert orders(DataLoader(DATA, batch_size=8)) == []
