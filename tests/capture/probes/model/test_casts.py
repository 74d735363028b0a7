"""Models converted to another type, and autocast."""

from __future__ import annotations

import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Autocast, Cast


def test_a_conversion_and_a_block_of_autocast() -> None:
    model, x = nn.Linear(4, 1), torch.randn(8, 4)

    def program() -> None:
        model.to(torch.bfloat16)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            training(model, lambda: model(x).float().square().mean())()

    run = facts_of(program, steps=1)
    assert [fact.dtype for fact in run.facts(Cast)] == ["bfloat16"]
    assert [(fact.dtype, fact.device) for fact in run.facts(Autocast)] == [("bfloat16", "cpu")]


def test_a_move_that_changes_no_type() -> None:
    model, x = nn.Linear(4, 1), torch.randn(8, 4)

    def program() -> None:
        model.to("cpu")
        with torch.autocast("cpu", enabled=False):
            training(model, lambda: model(x).square().mean())()

    run = facts_of(program, steps=1)
    assert not run.facts(Cast) and not run.facts(Autocast)
