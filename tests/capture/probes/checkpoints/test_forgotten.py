"""A resume that leaves the optimizer's state in its file."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Forgotten


@pytest.mark.parametrize("restored", [False, True])
def test_a_training_that_goes_on_without_its_momentum(restored: bool, tmp_path: Path) -> None:
    x = torch.randn(8, 4)

    def fresh() -> tuple[nn.Linear, torch.optim.Adam]:
        model = nn.Linear(4, 1)
        return model, torch.optim.Adam(model.parameters())

    model, optimizer = fresh()
    training(model, lambda: model(x).square().mean(), optimizer)()
    saved = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 5}
    torch.save(saved, tmp_path / "last.pt")

    def program() -> None:
        model, optimizer = fresh()
        checkpoint = torch.load(tmp_path / "last.pt")
        model.load_state_dict(checkpoint["model"])
        if restored:
            optimizer.load_state_dict(checkpoint["optimizer"])
        learn = training(model, lambda: model(x).square().mean(), optimizer)
        for _epoch in range(checkpoint["epoch"] + 1, checkpoint["epoch"] + 4):
            learn()

    found = facts_of(program, steps=1).facts(Forgotten)
    assert [(fact.class_, fact.counter[2], fact.tensors) for fact in found] == (
        [] if restored else [("Adam", "epoch", 2)]
    )
