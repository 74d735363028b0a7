"""Pictures and their masks: does each mask belong to its own picture?"""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Partners

SPOTS = torch.zeros(24, 1, 16, 16)
for index in range(24):
    top, left = index // 5, 2 * (index % 5)  # a hook, which fits no other place and no mirror
    SPOTS[index, 0, top : top + 8, left : left + 2] = 1
    SPOTS[index, 0, top : top + 2, left : left + 5] = 1
PICTURES = SPOTS + 0.1 * torch.randn(SPOTS.shape, generator=torch.Generator().manual_seed(0))


def _found(masks: torch.Tensor) -> Partners:
    model = nn.Sequential(nn.Conv2d(1, 1, 3, padding=1))
    (found,) = facts_of(training(model, lambda: F.binary_cross_entropy_with_logits(model(PICTURES), masks))).facts(
        Partners
    )
    return found


@pytest.mark.parametrize("classes", [False, True])
def test_masks_of_other_pictures_are_told(classes: bool) -> None:
    model = nn.Sequential(nn.Conv2d(1, 2 if classes else 1, 3, padding=1))
    masks = SPOTS.roll(5, 0)

    def loss() -> torch.Tensor:
        if classes:
            return F.cross_entropy(model(PICTURES), masks[:, 0].long())
        return F.binary_cross_entropy_with_logits(model(PICTURES), masks)

    (found,) = facts_of(training(model, loss)).facts(Partners)
    assert found.own == 0
    assert found.elsewhere > found.looked / 2


def test_own_masks_fit() -> None:
    found = _found(SPOTS)
    assert (found.own, found.elsewhere) == (found.looked, 0)


def test_masks_that_no_picture_shows_belong_nowhere() -> None:
    found = _found(torch.rand(SPOTS.shape, generator=torch.Generator().manual_seed(1)))
    assert found.elsewhere < 0.1 * found.looked
