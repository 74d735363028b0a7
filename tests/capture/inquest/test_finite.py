"""One number tells whether any of many tensors is bad, however they are put together."""

from __future__ import annotations

import pytest
import torch

from paramedic.capture.inquest.finite import FEW, JOINED, all_finite


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("count", [1, FEW + 1, 50])
def test_a_single_bad_number_is_found(dtype: torch.dtype, bad: float, count: int) -> None:
    tensors = [torch.nn.Parameter(torch.ones(3, 2, dtype=dtype)) for _ in range(count)]
    assert all_finite(tensors)
    tensors[-1].data[1, 1] = bad
    assert not all_finite(tensors)


def test_a_sum_that_overflows_by_itself_is_no_bad_number() -> None:
    assert all_finite([torch.full((4,), 3e38) for _ in range(2 * FEW)])
    assert all_finite([torch.full((4,), 6e4, dtype=torch.float16) for _ in range(2 * FEW)])


def test_large_tensors_are_not_copied_together() -> None:
    tensors = [torch.ones(JOINED // 4) for _ in range(2 * FEW)]
    assert all_finite(tensors)
    tensors[0][5] = float("nan")
    assert not all_finite(tensors)
