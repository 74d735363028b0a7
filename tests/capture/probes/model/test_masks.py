"""Padding masks beside the token ids that they belong to."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Mask, MaskAdded, Tokens

IDS = torch.tensor([[5, 6, 7, 8, 0, 0], [3, 4, 5, 0, 0, 0], [9, 8, 7, 6, 5, 0]])


class Reader(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.attend = nn.Embedding(10, 8), nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        x = self.embedding(ids)
        return self.attend(x, x, x, key_padding_mask=mask)[0]


@pytest.mark.parametrize(
    ("mask", "padding", "tokens"),
    [(IDS == 0, 6, 0), (IDS != 0, 0, 12), (torch.zeros(3, 6).bool(), 0, 0)],
    ids=["right", "turned around", "empty"],
)
def test_what_a_mask_leaves_out(mask: torch.Tensor, padding: int, tokens: int) -> None:
    model = Reader()
    run = facts_of(training(model, lambda: model(IDS, mask).square().mean()))
    inside = [fact for fact in run.facts(Mask) if fact.declared is None]
    assert {(fact.masked_padding, fact.masked_tokens, fact.padding) for fact in inside} == {(padding, tokens, 6)}
    assert {(fact.value, fact.longest, fact.padding) for fact in run.facts(Tokens)} == {(0, 3, 6)}


@pytest.mark.parametrize(("numbers", "told"), [(torch.ones(6, 6).triu(1), 1), (torch.full((6, 6), -1e9).triu(1), 0)])
def test_a_mask_of_zeros_and_ones_that_is_added(numbers: torch.Tensor, told: int) -> None:
    model, x = nn.Linear(8, 8), torch.randn(2, 6, 8)

    def loss() -> torch.Tensor:
        hidden = model(x)
        return F.scaled_dot_product_attention(hidden, hidden, hidden, numbers).square().mean()

    assert len(facts_of(training(model, loss)).facts(MaskAdded)) == told
