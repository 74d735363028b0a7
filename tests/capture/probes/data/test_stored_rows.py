"""Datasets that write into the samples they keep."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

from facts_of import facts_of, training
from paramedic.record.facts import StoredRows


class Rows(Dataset[tuple[torch.Tensor, torch.Tensor]]):
    def __init__(self, copied: bool) -> None:
        self.x = torch.randn(16, 4)
        self.copied = copied

    def __len__(self) -> int:
        return 16

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        row = self.x[index].clone() if self.copied else self.x[index]
        row += 1.0
        return row, row[:1]


@pytest.mark.parametrize(("copied", "changed"), [(False, 4), (True, 0)])
def test_how_many_of_the_rows_that_were_read_have_changed(copied: bool, changed: int) -> None:
    model = nn.Linear(4, 1)
    loader = DataLoader(Rows(copied), batch_size=4)

    def program() -> None:
        for x, y in loader:
            training(model, lambda: F.mse_loss(model(x), y))()  # noqa: B023

    found = facts_of(program, steps=1).facts(StoredRows)
    assert {(fact.attribute, fact.read, fact.changed, fact.others) for fact in found} == {("x", 4, changed, 0)}
