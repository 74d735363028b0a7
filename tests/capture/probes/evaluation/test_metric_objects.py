"""Metric objects that are, or are not, reset between evaluations."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from facts_of import facts_of, training
from paramedic.record.facts import MetricNotReset

X = torch.randn(40, 4, generator=torch.Generator().manual_seed(0))
LABELS = torch.arange(40) % 3


@pytest.mark.parametrize("resets", [False, True])
def test_updates_that_a_metric_holds_when_the_next_evaluation_begins(resets: bool) -> None:
    from torchmetrics.classification import (
        MulticlassAccuracy,
    )  # which takes seconds: not for those who test other things

    loader = DataLoader(TensorDataset(X, LABELS), batch_size=10)
    trained_on = DataLoader(TensorDataset(X), batch_size=20)
    kept: list[MulticlassAccuracy] = []

    def step() -> None:
        if not kept:
            kept.append(MulticlassAccuracy(num_classes=3))
        for _ in trained_on:
            learn()
        with torch.no_grad():
            for x, y in loader:
                kept[0].update(model(x).argmax(1), y)
        kept[0].compute()
        if resets:
            kept[0].reset()

    model = nn.Sequential(nn.Linear(4, 3))
    learn = training(model, lambda: model(X).square().mean())
    facts = facts_of(step, steps=3).facts(MetricNotReset)
    assert [(fact.metric, fact.updates) for fact in facts] == ([] if resets else [("MulticlassAccuracy", 4)])
