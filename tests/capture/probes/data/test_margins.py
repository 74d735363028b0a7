"""How far each sample's own class was ahead, where an audit asks for it."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from facts_of import QUIET, attached
from paramedic.settings import Settings


@pytest.mark.parametrize("audit", [True, False])
def test_the_margins_of_every_sample_are_added_up(audit: bool) -> None:
    labels = torch.tensor([0, 1, 0, 1])
    loader = DataLoader(TensorDataset(torch.tensor([[3.0, 1.0]] * 4), labels), batch_size=2)
    model = nn.Linear(2, 2, bias=False)
    model.weight.data = torch.eye(2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    with attached(Settings(**{**QUIET.as_dict(), "audit": audit})) as attachment:
        for _ in range(3):
            for x, y in loader:
                F.cross_entropy(model(x), y).backward()
                optimizer.step()
        margins = list(attachment.known.loaders.known.margins.values())
    assert [known[:, :4].tolist() for known in margins] == ([[[6, -6, 6, -6], [3, 3, 3, 3]]] if audit else [])
