"""The exception that ended the script."""

from __future__ import annotations

import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Ended


def test_the_exception_and_its_line() -> None:
    model = nn.Linear(3, 1)
    sizes = iter([3, 3, 4])
    [found] = facts_of(training(model, lambda: model(torch.ones(2, next(sizes))).mean())).facts(Ended)
    assert found.type == "RuntimeError" and "shapes cannot be multiplied" in found.message
    assert found.where.file and found.where.file.endswith("test_ended.py")


def test_a_script_that_ends_by_itself() -> None:
    model = nn.Linear(3, 1)
    assert not facts_of(training(model, lambda: model(torch.ones(2, 3)).mean())).facts(Ended)
