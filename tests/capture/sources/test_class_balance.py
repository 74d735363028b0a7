"""Weights of a sampler that belong to other samples."""

from __future__ import annotations

import torch
from torch.utils.data import TensorDataset

from paramedic.capture.sources.class_balance import misplaced

LABELS = torch.tensor([0] * 150 + [1] * 40 + [2] * 10)
BALANCED = 1.0 / LABELS.bincount()[LABELS]
X = torch.zeros(200, 2)


def test_weights_in_another_order() -> None:
    order = torch.randperm(200, generator=torch.Generator().manual_seed(0))
    assert (misplaced(BALANCED, TensorDataset(X, LABELS[order])) or 0) > 50
    assert (misplaced(BALANCED, TensorDataset(X, LABELS[order].float())) or 0) > 50


def test_weights_of_their_own_samples() -> None:
    assert misplaced(BALANCED, TensorDataset(X, LABELS)) is None
    assert misplaced(BALANCED, TensorDataset(X, LABELS.flip(0), LABELS)) is None  # by another column


def test_weights_that_are_not_of_these_classes() -> None:
    shuffled = TensorDataset(X, LABELS.flip(0))
    assert misplaced(BALANCED.sqrt(), shuffled) is None  # softened: nothing says what they are
    assert misplaced(torch.rand(200), shuffled) is None  # one per sample
    halves = torch.tensor([1.0] * 100 + [3.0] * 100)
    assert misplaced(halves, TensorDataset(X, torch.arange(200) % 2)) is None  # of two halves by something else
    groups = torch.tensor([0] * 160 + [1] * 40)
    assert misplaced(1.0 / groups.bincount()[groups], shuffled) is None  # of other groups
