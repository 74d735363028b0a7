"""Labels of losses that want +1 and -1."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import SignedLabels

X, SIDES = torch.randn(16, 4), torch.arange(16) % 2


def by_torch(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return F.soft_margin_loss(scores, labels)


def by_hand(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return (1 - labels * scores).clamp(min=0).mean()


@pytest.mark.parametrize("loss", [by_torch, by_hand])
@pytest.mark.parametrize(("labels", "kind"), [(SIDES * 2.0 - 1, "signed"), (SIDES.float(), "zero_one")])
def test_which_labels_came(
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], labels: torch.Tensor, kind: str
) -> None:
    model = nn.Linear(4, 1)
    found = facts_of(training(model, lambda: loss(model(X).squeeze(1), labels))).facts(SignedLabels)
    assert {(fact.kind, fact.ones) for fact in found} == {(kind, 0.5)}


def test_other_losses_want_other_labels() -> None:
    model = nn.Linear(4, 1)
    step = training(model, lambda: F.binary_cross_entropy_with_logits(model(X).squeeze(1), SIDES.float()))
    assert not facts_of(step).facts(SignedLabels)
