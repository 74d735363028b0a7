"""A copy that follows the trained model."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Average, SetBack, Stillness
from paramedic.record.reader import Run


def followed(move: Callable[[nn.Module, nn.Module], object]) -> Run:
    model, x = nn.Sequential(nn.Linear(4, 4)), torch.randn(8, 4)
    shadow = copy.deepcopy(model)
    learn = training(model, lambda: (model(x) - 1).square().mean())

    def step() -> None:
        with torch.no_grad():
            shadow(x)
        learn()
        with torch.no_grad():
            move(shadow, model)

    return facts_of(step, steps=8)


def part_of_the_way(shadow: nn.Module, model: nn.Module) -> None:
    for mine, theirs in zip(shadow.parameters(), model.parameters(), strict=True):
        mine.lerp_(theirs, 0.1)


def most_of_the_way(shadow: nn.Module, model: nn.Module) -> None:
    for mine, theirs in zip(shadow.parameters(), model.parameters(), strict=True):
        mine.lerp_(theirs, 0.99)


@pytest.mark.parametrize(("move", "share"), [(part_of_the_way, 0.1), (most_of_the_way, 0.99)])
def test_how_much_of_the_way_the_copy_goes(move: Callable[[nn.Module, nn.Module], object], share: float) -> None:
    run = followed(move)
    [found] = run.facts(Average)
    assert (found.kind, found.backwards) == ("moved", False) and found.share == pytest.approx(share, abs=1e-4)
    assert {fact.moved for fact in run.facts(Stillness)} == {True}


def test_a_copy_that_never_moves() -> None:
    run = followed(lambda shadow, model: None)
    assert {fact.moved for fact in run.facts(Stillness)} == {False} and not run.facts(SetBack)


def test_a_model_that_loads_its_own_copy() -> None:
    run = followed(lambda shadow, model: model.load_state_dict(shadow.state_dict()))
    assert run.facts(SetBack)
