"""The lines that call a collective operation."""

from __future__ import annotations

import torch
from torch import distributed, nn

from facts_of import facts_of, training
from paramedic.record.facts import Collective, Waiting


def test_each_line_is_told_once_and_nobody_waits(group_of_one: None) -> None:
    model, x = nn.Linear(4, 1), torch.randn(8, 4)
    learn = training(model, lambda: model(x).square().mean())

    def step() -> None:
        learn()
        distributed.all_reduce(torch.ones(2))
        distributed.barrier()

    run = facts_of(step)
    assert [fact.op for fact in run.facts(Collective)] == ["all_reduce", "barrier"]
    assert not run.facts(Waiting)


def test_a_collective_that_fails(group_of_one: None) -> None:
    model, x = nn.Linear(4, 1), torch.randn(8, 4)
    learn = training(model, lambda: model(x).square().mean())

    def step() -> None:
        learn()
        distributed.all_gather([torch.zeros(3)], torch.zeros(2))

    [found] = facts_of(step).facts(Waiting)
    assert found.op == "all_gather" and found.error and list(found.shape or ()) == [2]
