"""Meters of the script's own that are, or are not, reset between evaluations."""

from __future__ import annotations

import time

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from facts_of import facts_of, training
from paramedic.record.facts import MetricNotReset

X = torch.randn(40, 4, generator=torch.Generator().manual_seed(0))
LABELS = torch.arange(40) % 3


class AverageMeter:
    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.sum = 0.0
        self.count = 0

    def update(self, value: float, n: int = 1) -> None:
        self.sum += value * n
        self.count += n
        self.avg = self.sum / self.count


@pytest.mark.parametrize(("resets", "measures"), [(False, "accuracy"), (True, "accuracy"), (False, "seconds")])
def test_counts_that_a_meter_holds_when_the_next_evaluation_begins(resets: bool, measures: str) -> None:
    loader = DataLoader(TensorDataset(X, LABELS), batch_size=10)
    trained_on = DataLoader(TensorDataset(X), batch_size=20)
    board = {"validation": AverageMeter()}

    def step() -> None:
        for _ in trained_on:
            learn()
        if resets:
            board["validation"].reset()
        began = time.perf_counter()
        for x, y in loader:
            right = (model(x).detach().argmax(1) == y).float().mean().item()
            if measures == "seconds":
                time.sleep(0.01)
                board["validation"].update(time.perf_counter() - began)
                began = time.perf_counter()
            else:
                board["validation"].update(right, len(y))

    model = nn.Sequential(nn.Linear(4, 3))
    learn = training(model, lambda: model(X).square().mean())
    facts = facts_of(step, steps=3).facts(MetricNotReset)
    found = not resets and measures == "accuracy"
    assert [(fact.metric, fact.updates, fact.unit) for fact in facts] == [("AverageMeter", 40, "counts")] * found
