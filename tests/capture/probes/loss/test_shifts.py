"""How many places labels lie behind the token ids."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Shift

TEXT = torch.randint(50, (4, 14), generator=torch.Generator().manual_seed(0))
IDS = TEXT[:, :12]


@pytest.mark.parametrize("places", [0, 1, 2])
def test_labels_some_places_later(places: int) -> None:
    model = nn.Sequential(nn.Embedding(50, 8), nn.Linear(8, 50))
    labels = TEXT[:, places : places + 12]
    step = training(model, lambda: F.cross_entropy(model(IDS).flatten(0, 1), labels.flatten()))
    found = facts_of(step).facts(Shift)
    assert found and {fact.agreement[str(places)] for fact in found} == {1.0}
    assert all(share < 0.3 for fact in found for other, share in fact.agreement.items() if other != str(places))


def test_without_token_ids_nothing_is_compared() -> None:
    model, x = nn.Linear(8, 5), torch.randn(4, 12, 8)
    step = training(model, lambda: F.cross_entropy(model(x).flatten(0, 1), IDS.flatten() % 5))
    assert not facts_of(step).facts(Shift)
