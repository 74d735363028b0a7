"""Memory of this process over time."""

from __future__ import annotations

import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import DeviceMemory, Memory, MemoryPeak, OutOfMemory, Process


def test_the_limit_the_process_and_the_peak() -> None:
    model = nn.Linear(4, 1)
    run = facts_of(training(model, lambda: model(torch.ones(8, 4)).square().mean()))
    assert run.facts(Memory) and run.facts(Process)
    [peak] = run.facts(MemoryPeak)
    assert peak.rss > 10 << 20
    assert not run.facts(OutOfMemory)
    assert torch.cuda.is_available() or not run.facts(DeviceMemory)


def test_an_allocation_that_fails_tells_who_holds_what() -> None:
    model, large = nn.Linear(4, 1), torch.zeros(1 << 20)
    learn = training(model, lambda: model(torch.ones(8, 4)).square().mean())

    def step() -> None:
        learn()
        torch.zeros(1 << 52)

    [found] = facts_of(step).facts(OutOfMemory)
    assert found.where.line and large.numel() in {tensor.shape[0] for tensor in found.largest if tensor.shape}
