"""Tensors are read in order, with the values that they had when they were sent."""

from __future__ import annotations

import pytest
import torch

from paramedic.capture.bringing import Bringing

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


def test_ordinary_memory_is_read_at_once() -> None:
    seen: list[float] = []
    Bringing().bring([torch.tensor([1.0, 2.0])], lambda near: seen.extend(near[0].tolist()))
    assert seen == [1.0, 2.0]


def test_what_has_no_values_is_not_read() -> None:
    seen: list[object] = []
    bringing = Bringing()
    bringing.bring([torch.empty(3, device="meta")], seen.append)
    bringing.finish()
    assert not seen


@needs_gpu
def test_an_accelerators_memory_is_read_as_it_was_and_in_order() -> None:
    seen: list[float] = []
    bringing, far, near = Bringing(), torch.ones(1, device="cuda"), torch.ones(1)
    torch.cuda._sleep(10_000_000)
    for value in (1.0, 2.0):
        far.fill_(value)
        near.fill_(value + 0.5)
        bringing.bring([far], lambda values: seen.extend(values[0].tolist()))
        bringing.bring([near], lambda values: seen.extend(values[0].tolist()))
    assert not seen
    far.fill_(0.0)
    near.fill_(0.0)
    bringing.finish()
    assert seen == [1.0, 1.5, 2.0, 2.5]
