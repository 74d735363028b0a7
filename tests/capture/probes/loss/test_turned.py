"""Targets of four numbers: does a box end before it begins?"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Edges

BOXES = torch.tensor([[0.0, 0.0, 4.0, 2.0], [5.0, 5.0, 9.0, 8.0]]).repeat(4, 1)


def edges(target: torch.Tensor) -> set[tuple[int, float, float]]:
    model = nn.Linear(target.shape[1], target.shape[1])
    found = facts_of(training(model, lambda: F.smooth_l1_loss(model(target), target))).facts(Edges)
    return {(fact.rows, fact.bad_x, fact.bad_y) for fact in found}


def test_mirrored_boxes_are_told_from_straight_ones() -> None:
    assert edges(BOXES) == {(8, 0, 0)}
    assert edges(torch.stack([10 - BOXES[:, 0], BOXES[:, 1], 10 - BOXES[:, 2], BOXES[:, 3]], 1)) == {(8, 8, 0)}
    assert edges(BOXES[:, :3].contiguous()) == set(), "three numbers are no box"
