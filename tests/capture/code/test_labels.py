"""The lines of a program that make the labels of its batches."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch.utils.data import DataLoader

from paramedic.capture.code.labels import label_sites

END = 0
PAD = END  # <- the padding
FILL = 7
tokenizer = SimpleNamespace(eos_token=0, pad_token_id=0)
tokenizer.pad_token = tokenizer.eos_token  # <- the tokenizer's padding


def by_name(rows: list[torch.Tensor]) -> dict[str, torch.Tensor]:
    ids = torch.stack(rows)
    labels = ids.clone()
    labels[labels == PAD] = -100
    return {"input_ids": ids, "labels": labels}


def by_attribute(rows: list[torch.Tensor]) -> dict[str, torch.Tensor]:
    ids = torch.stack(rows)
    return {"input_ids": ids, "labels": ids.masked_fill(ids == tokenizer.pad_token_id, -100)}


def by_number(rows: list[torch.Tensor]) -> dict[str, torch.Tensor]:
    ids = torch.stack(rows)
    return {"input_ids": ids, "labels": ids.masked_fill(ids == FILL, -100)}  # <- the fill


def shifted(rows: list[torch.Tensor]) -> dict[str, torch.Tensor]:
    ids = torch.stack(rows)
    batch = {"input_ids": ids[:, :-1]}
    batch["labels"] = ids[:, 1:]  # <- the shift
    return batch


def shifted_in_part(rows: list[torch.Tensor]) -> dict[str, torch.Tensor]:
    ids = torch.stack(rows)
    labels = torch.full_like(ids, -100)
    labels[:, :-1] = ids[:, 1:]  # <- the shift of a part
    return {"input_ids": ids, "labels": labels}


def lines(collate: Callable[..., Any]) -> dict[str, int | None]:
    found = label_sites(DataLoader([torch.zeros(3)], collate_fn=collate))
    return {how: site.line if (site := found.of(how)) else None for how in ("shifted", "left_out")}


def marked(text: str) -> int:
    source = inspect.getsource(inspect.getmodule(lines)).splitlines()  # type: ignore[arg-type]
    return next(n for n, line in enumerate(source, 1) if line.endswith(f"# <- {text}"))


def test_labels_are_left_out_where_the_padding_is_said_to_be_the_end() -> None:
    assert lines(by_name) == {"shifted": None, "left_out": marked("the padding")}
    assert lines(by_attribute) == {"shifted": None, "left_out": marked("the tokenizer's padding")}


def test_labels_are_left_out_by_a_number_of_their_own_at_the_line_that_does_so() -> None:
    assert lines(by_number) == {"shifted": None, "left_out": marked("the fill")}


def test_labels_are_shifted_where_they_are_put_into_the_batch() -> None:
    assert lines(shifted) == {"shifted": marked("the shift"), "left_out": None}


def test_labels_are_shifted_where_a_part_of_them_is_written() -> None:
    assert lines(shifted_in_part) == {"shifted": marked("the shift of a part"), "left_out": None}
