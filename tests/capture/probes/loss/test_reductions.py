"""A mean over the batch and a divergence that is summed over it."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import MixedReductions

X = torch.randn(16, 4)


@pytest.mark.parametrize("divided", [False, True])
def test_terms_whose_ratio_depends_on_the_batch(divided: bool) -> None:
    model = nn.Linear(4, 8)

    def loss() -> torch.Tensor:
        mu, logvar = model(X).chunk(2, 1)
        kl = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        return F.mse_loss(mu, X) + (kl / len(X) if divided else kl)

    found = facts_of(training(model, loss)).facts(MixedReductions)
    assert [(fact.name if not divided else "kl", fact.samples, abs(fact.weight) * 16) for fact in found] == [
        ("kl", 16, 0.5 if divided else 8.0)
    ]
