"""A model that has hardly anything of the file that was read for it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import LeftInFile


def network() -> nn.Sequential:
    return nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))


@pytest.mark.parametrize("prefix", ["module.", ""])
def test_weights_that_do_not_find_their_place(prefix: str, tmp_path: Path) -> None:
    torch.save({prefix + name: value for name, value in network().state_dict().items()}, tmp_path / "best.pt")

    def program() -> None:
        model = network()
        model.load_state_dict(torch.load(tmp_path / "best.pt"), strict=False)
        training(model, lambda: model(torch.ones(4, 8)).square().mean())()

    found = facts_of(program, steps=1).facts(LeftInFile)
    assert [(fact.tensors, fact.lost, fact.fitting) for fact in found] == ([(4, 4, 4)] if prefix else [])
