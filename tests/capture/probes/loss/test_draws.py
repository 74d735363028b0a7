"""Draws that lead back to their parameters, and those that do not."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import distributions, nn

from facts_of import facts_of, training
from paramedic.record.facts import Drawn


@pytest.mark.parametrize(("draw", "told"), [("sample", [".sample()"]), ("rsample", [])])
def test_what_is_drawn_and_given_to_a_layer(draw: str, told: list[str]) -> None:
    encoder, decoder, x = nn.Linear(4, 2), nn.Linear(2, 4), torch.randn(16, 4)

    def loss() -> torch.Tensor:
        mean = encoder(x)
        z = getattr(distributions.Normal(mean, 1.0), draw)()
        return F.mse_loss(decoder(z), x) + 0.01 * mean.square().mean()

    run = facts_of(training(nn.ModuleList([encoder, decoder]), loss))
    assert [fact.function for fact in run.facts(Drawn)] == told
