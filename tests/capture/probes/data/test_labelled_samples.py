"""Samples are kept beside the labels they were trained with."""

from __future__ import annotations

import base64

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from facts_of import facts_of, training
from paramedic.record.facts import LabelledSamples

ROWS = torch.randn(80, 6, generator=torch.Generator().manual_seed(0))


def features(kept: LabelledSamples) -> torch.Tensor:
    raw = np.frombuffer(base64.b64decode(kept.features), np.float16).reshape(kept.rows, kept.width)
    return torch.from_numpy(raw.astype(np.float32))


def test_a_label_stays_with_its_row_and_a_second_pass_adds_nothing() -> None:
    labels = (ROWS[:, 0] > 0).long()
    loader = DataLoader(TensorDataset(ROWS, labels), batch_size=20, shuffle=True)
    model = nn.Linear(6, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def epoch() -> None:
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()

    [kept] = facts_of(epoch, steps=3).facts(LabelledSamples)
    assert kept.rows == 80 and kept.classes and not kept.tokens
    scaled = (ROWS - ROWS.mean(0)) / ROWS.std(0)
    for row, label in zip(features(kept), kept.labels, strict=True):
        original = int((scaled - row).abs().sum(1).argmin())
        assert torch.allclose(scaled[original], row, atol=0.01) and label == labels[original]


def test_wide_inputs_are_mixed_without_touching_the_programs_random_numbers() -> None:
    model = nn.Sequential(nn.Flatten(), nn.Linear(300, 1))
    x, y = torch.randn(30, 3, 100), torch.randn(30)
    before = torch.get_rng_state()
    step = training(model, lambda: F.mse_loss(model(x)[:, 0], y))
    [kept] = facts_of(step, steps=2).facts(LabelledSamples)
    assert (kept.width, kept.inputs, kept.classes) == (64, 300, False)
    assert torch.equal(torch.get_rng_state(), before)


def test_one_target_per_position_is_none_per_sample() -> None:
    model = nn.Linear(6, 6)
    step = training(model, lambda: F.mse_loss(model(ROWS), ROWS))
    assert facts_of(step, steps=2).facts(LabelledSamples) == []
