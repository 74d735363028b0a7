"""A fingerprint tells what a norm does not: which value stands where."""

from __future__ import annotations

import torch

from paramedic.capture.stats.fingerprints import MOST_VALUES, fingerprints


def test_order_and_signs_change_it_and_nothing_else_does() -> None:
    weight = torch.randn(64, 32, generator=torch.Generator().manual_seed(1))
    turned, flipped = weight.flip(0), -weight
    same, one, two, three = (float(mark) for mark in fingerprints([weight, weight.clone(), turned, flipped]))
    assert same == one
    assert min(abs(same - two), abs(same - three)) > 1e-2 * float(weight.norm())


def test_it_is_taken_of_anything_and_draws_nothing() -> None:
    before = torch.get_rng_state()
    tensors = [
        torch.tensor(2.0), torch.ones(3, dtype=torch.bfloat16), torch.ones(2, 2, dtype=torch.complex64),
        torch.ones(3 * MOST_VALUES + 1, requires_grad=True), torch.ones(4, 6).t(), torch.ones(2, dtype=torch.float64),
    ]  # fmt: skip
    assert all(mark.shape == () and mark.isfinite() and not mark.requires_grad for mark in fingerprints(tensors))
    assert torch.equal(torch.get_rng_state(), before)
