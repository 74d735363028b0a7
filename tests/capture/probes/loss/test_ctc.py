"""CTC: is there room for the labels?"""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Ctc


@pytest.mark.parametrize(("second", "short"), [([1, 1, 1, 1], 1), ([1, 2, 3, 0], 0)])
def test_targets_that_are_too_long(second: list[int], short: int) -> None:
    model, x = nn.Linear(4, 5), torch.randn(6, 2, 4)
    targets, lengths = torch.tensor([[1, 2, 3, 4], second]), torch.tensor([6, 3])
    sizes = torch.tensor([4, sum(label > 0 for label in second)])

    def loss() -> torch.Tensor:
        return F.ctc_loss(model(x).log_softmax(-1), targets, lengths, sizes, zero_infinity=True)

    assert {(fact.short, fact.samples) for fact in facts_of(training(model, loss)).facts(Ctc)} == {(short, 2)}
