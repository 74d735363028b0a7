"""Attention by hand: the axis along which the weights sum to one."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import SoftmaxOverQueries


class Attention(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.project, self.dim = nn.Linear(8, 24), dim

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.project(x).chunk(3, -1)
        return (q @ k.transpose(1, 2)).softmax(self.dim) @ v


@pytest.mark.parametrize(("dim", "told"), [(1, [[2, 5, 5]]), (-1, [])])
def test_weights_normalised_over_the_queries(dim: int, told: list[list[int]]) -> None:
    model, x = Attention(dim), torch.randn(2, 5, 8)
    found = facts_of(training(model, lambda: model(x).square().mean())).facts(SoftmaxOverQueries)
    assert [list(fact.shape) for fact in found] == told
