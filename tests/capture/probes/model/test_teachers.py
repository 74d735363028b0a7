"""Frozen models that answer in train mode."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Teacher


@pytest.mark.parametrize(("in_train", "told"), [(True, [(False, 1)]), (False, [])])
def test_a_teacher_whose_statistics_drift(in_train: bool, told: list[tuple[bool, int]]) -> None:
    teacher = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)).requires_grad_(False).train(in_train)
    student, x = nn.Linear(4, 4), torch.randn(16, 4)

    def loss() -> torch.Tensor:
        with torch.no_grad():
            wanted = teacher(x)
        return (student(x) - wanted).square().mean()

    found = facts_of(training(student, loss)).facts(Teacher)
    assert [(fact.moved, fact.norms) for fact in found] == told
