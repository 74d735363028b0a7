"""Boxes that the script intersects as two corners."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Corners

CORNERS = torch.tensor([[0.0, 0.0, 4.0, 4.0], [5.0, 5.0, 9.0, 8.0]]).repeat(4, 1)
SIZES = torch.tensor([[0.0, 0.0, 4.0, 4.0], [5.0, 5.0, 4.0, 3.0]]).repeat(4, 1)  # x, y, width, height


@pytest.mark.parametrize(("given", "bad"), [(CORNERS, 0), (SIZES, 4)])
def test_boxes_without_an_area_are_counted(given: torch.Tensor, bad: int) -> None:
    model = nn.Linear(4, 4)

    def loss() -> torch.Tensor:
        predicted = model(given)
        begin = torch.maximum(predicted[:, :2], given[:, :2])
        end = torch.minimum(predicted[:, 2:], given[:, 2:])
        return -(end - begin).clamp(min=0).prod(1).mean()

    found = facts_of(training(model, loss)).facts(Corners)
    assert {(fact.boxes, fact.bad_corners) for fact in found} == {(8, bad)}


def test_the_scores_of_four_classes_are_no_boxes() -> None:
    model = nn.Linear(4, 4)
    assert not facts_of(training(model, lambda: torch.maximum(model(SIZES), SIZES).mean())).facts(Corners)
