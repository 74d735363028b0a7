"""How ranks exchange gradients."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from facts_of import facts_of, training
from paramedic.record.facts import Exchange, Wrapper


@pytest.mark.parametrize("entered", [True, False])
def test_a_wrapper_that_is_called_or_passed_by(entered: bool, group_of_one: None) -> None:
    x = torch.randn(8, 4)

    def program() -> None:
        wrapper = DistributedDataParallel(nn.Linear(4, 1))
        model = wrapper if entered else wrapper.module
        learn = training(wrapper, lambda: model(x).square().mean())
        for _ in range(6):
            learn()

    run = facts_of(program, steps=1)
    assert [(fact.class_, list(fact.members)) for fact in run.facts(Wrapper)] == [("DistributedDataParallel", [0])]
    assert {(fact.entered, fact.apart) for fact in run.facts(Exchange)} == {(entered, False)}


def test_a_model_alone_exchanges_nothing() -> None:
    model = nn.Linear(4, 1)
    run = facts_of(training(model, lambda: model(torch.ones(2, 4)).square().mean()), steps=6)
    assert not run.facts(Wrapper) and not run.facts(Exchange)
