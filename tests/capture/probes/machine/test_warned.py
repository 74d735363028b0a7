"""Warnings name the user's line, also where a function of ours stands between."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.optim import lr_scheduler

from facts_of import facts_of, training


@pytest.mark.filterwarnings("always")
def test_a_warning_of_torch_names_this_file(monkeypatch: pytest.MonkeyPatch) -> None:
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    learn = training(model, lambda: model(torch.ones(2, 4)).square().mean(), optimizer)
    shown: list[str] = []

    def show(message: object, category: object, filename: str, *rest: object, **named: object) -> None:
        shown.append(filename)

    def program() -> None:
        schedule = lr_scheduler.StepLR(optimizer, 2)
        schedule.step()
        learn()

    monkeypatch.setattr(warnings, "showwarning", show)
    facts_of(program, steps=1)
    assert [Path(name).name for name in shown] == ["test_warned.py"]
