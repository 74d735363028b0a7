"""A token that ends every sequence, and whether the labels of a batch still tell it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

from paramedic.audit.models.endings import masked_ending

END, PAD = 2, 0
_drawn = torch.Generator().manual_seed(0)
WORDS = [torch.randint(3, 40, (3 + (7 * i) % 9,), generator=_drawn) for i in range(60)]
ENDED = [torch.cat([words, torch.tensor([END])]) for words in WORDS]
Rows = list[torch.Tensor]
Batch = dict[str, torch.Tensor]


def by_id(rows: Rows) -> Batch:
    ids = pad_sequence(rows, batch_first=True, padding_value=END)
    return {"input_ids": ids, "labels": ids.masked_fill(ids == END, -100)}


def by_length(rows: Rows) -> Batch:
    ids = pad_sequence(rows, batch_first=True, padding_value=END)
    beyond = torch.arange(ids.shape[1]) >= torch.tensor([len(row) for row in rows])[:, None]
    return {"input_ids": ids, "labels": ids.masked_fill(beyond, -100)}


def by_own_id(rows: Rows) -> Batch:
    ids = pad_sequence(rows, batch_first=True, padding_value=PAD)
    return {"input_ids": ids, "labels": ids.masked_fill(ids == PAD, -100)}


def moved(rows: Rows) -> tuple[torch.Tensor, torch.Tensor]:
    ids = pad_sequence(rows, batch_first=True, padding_value=END)
    return ids[:, :-1], ids[:, 1:]


def moved_and_filled(rows: Rows) -> tuple[torch.Tensor, torch.Tensor]:
    """The last place has no next token."""
    ids = pad_sequence(rows, batch_first=True, padding_value=PAD)
    labels = torch.cat([ids[:, 1:], torch.full((len(ids), 1), -100)], dim=1)
    return ids, labels.masked_fill(labels == PAD, -100)


@pytest.mark.parametrize(
    ("collate", "rows", "ignored", "found"),
    [
        (by_id, ENDED, -100, END),
        (moved, ENDED, END, END),
        (moved, ENDED, -100, None),
        (by_length, ENDED, -100, None),
        (by_own_id, ENDED, -100, None),
        (moved_and_filled, ENDED, -100, None),
        (moved_and_filled, WORDS, -100, None),
        (by_id, WORDS, -100, None),
    ],
)
def test_an_end_that_is_never_a_label(
    collate: Callable[[Rows], object], rows: Rows, ignored: int, found: int | None
) -> None:
    loader = DataLoader(rows, batch_size=8, collate_fn=collate)  # type: ignore[arg-type]
    assert masked_ending(loader, ignored) == found
