"""A collate function that sorts one part of a batch and not another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

from paramedic.audit.models.collating import torn_apart

generator = torch.Generator().manual_seed(0)
DATA = [(torch.randint(1, 40, (3 + (7 * i) % 11,), generator=generator), i % 2) for i in range(40)]
Batch = list[tuple[torch.Tensor, int]]


def sorted_alone(batch: Batch) -> Any:
    pages = sorted((x for x, _ in batch), key=len)
    return pad_sequence(pages, batch_first=True), torch.tensor([y for _, y in batch])


def sorted_together(batch: Batch) -> Any:
    batch = sorted(batch, key=lambda one: len(one[0]))
    return pad_sequence([x for x, _ in batch], batch_first=True), torch.tensor([y for _, y in batch])


def with_the_way_back(batch: Batch) -> Any:
    order = sorted(range(len(batch)), key=lambda i: len(batch[i][0]))
    back = torch.tensor(order).argsort()
    return pad_sequence([batch[i][0] for i in order], batch_first=True), back, torch.tensor([y for _, y in batch])


def noisy(batch: Batch) -> Any:
    pages = pad_sequence([x.float() + torch.rand(len(x)) for x, _ in batch], batch_first=True)
    return pages.flip(0), torch.tensor([y for _, y in batch])


@pytest.mark.parametrize(
    ("collate", "torn"), [(sorted_alone, True), (sorted_together, False), (with_the_way_back, False), (noisy, False)]
)
def test_what_belongs_together(collate: Callable[[Batch], Any], torn: bool) -> None:
    loader = DataLoader(DATA, batch_size=8, collate_fn=collate)  # type: ignore[arg-type]
    assert (torn_apart(loader) is not None) == torn
