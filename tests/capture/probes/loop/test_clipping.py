"""Gradient clipping: of which gradients, and when."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from facts_of import facts_of
from paramedic.record.facts import Clip


def clips(order: str) -> list[Clip]:
    model, x = nn.Linear(4, 1), torch.randn(8, 4)

    def program() -> None:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        calls: dict[str, Callable[[], object]] = {
            "z": optimizer.zero_grad,
            "b": lambda: model(x).square().mean().backward(),
            "c": lambda: nn.utils.clip_grad_norm_(model.parameters(), 0.5),
            "s": optimizer.step,
        }
        for call in 4 * order:
            calls[call]()

    return facts_of(program, steps=1).facts(Clip)


def test_gradients_that_wait_for_a_step() -> None:
    [found] = clips("zbcs")
    assert (found.function, found.limit, found.tensors, found.covered) == ("clip_grad_norm_", 0.5, 2, 2)
    assert (found.with_gradient, found.pending, found.stale, found.scaled) == (2, True, False, False)


@pytest.mark.parametrize(("order", "with_gradient", "stale"), [("zbsc", 2, True), ("zcbs", 0, False)])
def test_calls_in_the_wrong_order(order: str, with_gradient: int, stale: bool) -> None:
    found = clips(order)
    assert {(fact.with_gradient, fact.pending, fact.stale) for fact in found} == {(with_gradient, False, stale)}


def test_without_clipping_nothing_is_said() -> None:
    assert not clips("zbs")
