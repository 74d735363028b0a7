"""Pictures and their masks: was only one of the two flipped?"""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Mirrors

PICTURES = torch.zeros(8, 1, 16, 16)
PICTURES[:, :, 1:9, 1:4] = 1.0
PICTURES[:, :, 1:3, 1:7] = 1.0


@pytest.mark.parametrize(
    ("mask", "axis"),
    [
        (PICTURES, None),
        (PICTURES.flip(-1), "left and right"),
        (PICTURES.flip(-2), "top and bottom"),
        (PICTURES.flip(-1, -2), "both"),
        (PICTURES.rot90(3, (-2, -1)), "a quarter turn"),
        (PICTURES.rot90(1, (-2, -1)), "three quarter turns"),
        (PICTURES.mT, "along the diagonal"),
        (PICTURES.mT.flip(-1, -2), "along the other diagonal"),
    ],
)
def test_which_way_the_mask_fits(mask: torch.Tensor, axis: str | None) -> None:
    model = nn.Sequential(nn.Conv2d(1, 1, 3, padding=1))
    step = training(model, lambda: F.binary_cross_entropy_with_logits(model(PICTURES), mask))
    for found in (facts := facts_of(step).facts(Mirrors)):
        assert found.straight == (8 if axis is None else 0)
        assert {name for name, count in found.mirrored.items() if count} == ({axis} if axis else set())
    assert facts


def test_noise_fits_neither_way() -> None:
    model, noise = nn.Sequential(nn.Conv2d(1, 1, 3, padding=1)), torch.randn(8, 1, 16, 16)
    found = facts_of(training(model, lambda: F.mse_loss(model(PICTURES), noise))).facts(Mirrors)
    assert {(fact.straight, *fact.mirrored.values()) for fact in found} == {(0,) * 8}


def test_objects_as_bright_as_the_rest_are_told_by_their_colour() -> None:
    model, coloured = nn.Sequential(nn.Conv2d(2, 1, 3, padding=1)), torch.cat([PICTURES, 1 - PICTURES], dim=1)
    step = training(model, lambda: F.binary_cross_entropy_with_logits(model(coloured), PICTURES.flip(-1)))
    assert {fact.mirrored["left and right"] for fact in facts_of(step).facts(Mirrors)} == {8}
