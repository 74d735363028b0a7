"""Reshapes that mix up axes or samples."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import CrossedRows, CuttingView, Fact, NormalisedAcrossSamples, ScramblingView

X = torch.randn(6, 5, 8)  # samples, time, features
KINDS = (CrossedRows, CuttingView, NormalisedAcrossSamples, ScramblingView)


class Net(nn.Module):
    def __init__(self, after: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.layer, self.after = nn.Linear(8, 8), after

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.after(self.layer(x))


@pytest.mark.parametrize(
    ("after", "kind"),
    [
        (lambda h: h.reshape(6, 8, 5), ScramblingView),
        (lambda h: h.reshape(4, 60), CuttingView),
        (lambda h: F.normalize(h, dim=0), NormalisedAcrossSamples),
        (lambda h: h.transpose(1, 2), None),
        (lambda h: F.normalize(h.flatten(1), dim=1), None),
    ],
    ids=["scrambled", "cut", "normalised", "transposed", "flattened"],
)
def test_each_fault_is_told_from_the_right_way(
    after: Callable[[torch.Tensor], torch.Tensor], kind: type[Fact] | None
) -> None:
    model = Net(after)
    run = facts_of(training(model, lambda: model(X).square().mean()))
    assert [other for other in KINDS if run.facts(other)] == ([kind] if kind else [])


@pytest.mark.parametrize("crossed", [True, False])
def test_rows_in_another_order_than_their_labels(crossed: bool) -> None:
    model, labels = nn.Linear(8, 3), torch.arange(30).reshape(6, 5) % 3
    x = X.transpose(0, 1).contiguous() if crossed else X
    step = training(model, lambda: F.cross_entropy(model(x).flatten(0, 1), labels.flatten()))
    found = facts_of(step).facts(CrossedRows)
    assert [(list(fact.prediction), list(fact.target)) for fact in found] == ([([5, 6], [6, 5])] if crossed else [])
