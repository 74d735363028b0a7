"""Shapes that the source declares, and what calls really get."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import paramedic
from facts_of import facts_of, training
from paramedic.record.facts import Contract


class Pooled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Means of sequences.

        x: (B, T, 4)
        """
        return self.layer(x).mean(-2)


@paramedic.shapes("B T C -> B C")
def pooled(x: torch.Tensor) -> torch.Tensor:
    return x.mean(1) if x.shape[1] != 5 else x[0]


@pytest.mark.parametrize(("length", "broken"), [(5, ["return"]), (6, [])])
def test_a_decorated_function(length: int, broken: list[str]) -> None:
    layer, x = nn.Linear(4, 2), torch.randn(3, length, 4)
    found = facts_of(training(layer, lambda: pooled(layer(x)).square().mean())).facts(Contract)
    assert [fact.name for fact in found] == broken
    assert all(fact.how == "contract" and fact.broken for fact in found)


@pytest.mark.parametrize(("shape", "broken"), [((3, 4), ["x"]), ((3, 5, 4), [])])
def test_a_docstring_of_forward(shape: tuple[int, ...], broken: list[str]) -> None:
    model, x = Pooled(), torch.randn(*shape)
    found = facts_of(training(model, lambda: model(x).square().mean())).facts(Contract)
    assert [fact.name for fact in found] == broken
