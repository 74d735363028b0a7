"""Predictions compared with labels, counted, and divided."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from facts_of import facts_of, training
from paramedic.record.facts import (
    AnswersCompared,
    ArgmaxAcrossSamples,
    AverageOfAverages,
    BroadcastComparison,
    Confusion,
    CounterNotReset,
    Fact,
    FlatArgmax,
    ScoresCompared,
    Threshold,
    WrongDenominator,
)
from paramedic.record.reader import Run

X = torch.randn(36, 4, generator=torch.Generator().manual_seed(0))
LABELS = torch.arange(36) % 3
LOADER = DataLoader(TensorDataset(X, LABELS), batch_size=10)
KINDS = (AnswersCompared, ArgmaxAcrossSamples, BroadcastComparison, FlatArgmax, ScoresCompared, Threshold)


def evaluated(evaluate: Callable[[nn.Module], object]) -> Run:
    model = nn.Sequential(nn.Linear(4, 3))
    learn = training(model, lambda: model(X).square().mean())

    def step() -> None:
        learn()
        with torch.no_grad():
            evaluate(model)

    return facts_of(step, steps=3)


def as_it_should_be(model: nn.Module) -> None:
    (model(X).argmax(1) == LABELS).float().mean()


def flat(model: nn.Module) -> None:
    (model(X).argmax() == LABELS).float().mean()


def across(model: nn.Module) -> None:
    (model(X[:3]).argmax(0) == LABELS[:3]).float().mean()


def scores(model: nn.Module) -> None:
    (model(X).max(1)[0] == LABELS).float().mean()


def table(model: nn.Module) -> None:
    (model(X).argmax(1, keepdim=True) == LABELS).float().mean()


def half(model: nn.Module) -> None:
    ((10 * model(X) > 0.5).long()[:, 0] == LABELS).float().mean()


@pytest.mark.parametrize(
    ("evaluate", "kind"),
    [
        (as_it_should_be, AnswersCompared),
        (flat, FlatArgmax),
        (across, ArgmaxAcrossSamples),
        (scores, ScoresCompared),
        (table, BroadcastComparison),
    ],
)
def test_each_way_to_compare_is_told_from_the_others(evaluate: Callable[[nn.Module], object], kind: type[Fact]) -> None:
    run = evaluated(evaluate)
    assert [other for other in KINDS if run.facts(other)] == [kind]


def test_outputs_that_are_no_probabilities_are_cut_at_one_half() -> None:
    def wide(model: nn.Module) -> None:
        for layer in model:
            layer.bias.fill_(5.0)
        (model(X) > 0.5).float().mean()

    assert [fact.how for fact in evaluated(wide).facts(Threshold)] == ["gt"]
    assert not evaluated(lambda model: (model(X).sigmoid() > 0.5).float().mean()).facts(Threshold)


def test_which_class_was_answered() -> None:
    found = evaluated(as_it_should_be).facts(Confusion)
    assert found and {sum(row[1] for row in fact.labels) for fact in found} == {36}


def test_a_count_that_is_divided_by_the_number_of_batches() -> None:
    def wrong(model: nn.Module) -> float:
        correct = 0
        for x, y in LOADER:
            correct += (model(x).argmax(1) == y).sum().item()
        return correct / len(LOADER)

    def right(model: nn.Module) -> float:
        correct = 0
        for x, y in LOADER:
            correct += (model(x).argmax(1) == y).sum().item()
        return correct / len(LOADER.dataset)

    assert {(fact.divisor, fact.samples, fact.batches) for fact in evaluated(wrong).facts(WrongDenominator)} == {
        (4, 36, True)
    }
    assert not evaluated(right).facts(WrongDenominator)


def test_shares_that_are_averaged_over_uneven_batches() -> None:
    def averaged(model: nn.Module) -> float:
        total = 0.0
        for x, y in LOADER:
            total += (model(x).argmax(1) == y).float().mean().item()
        return total / len(LOADER)

    found = evaluated(averaged).facts(AverageOfAverages)
    assert {(fact.batches, fact.last, fact.samples) for fact in found} == {(4, 6, 36)}


@pytest.mark.parametrize("emptied", [True, False])
def test_a_count_that_goes_on_in_the_next_pass(emptied: bool) -> None:
    model = nn.Sequential(nn.Linear(4, 3))
    learn = training(model, lambda: model(X).square().mean())

    def program() -> None:
        correct = 0
        for _ in range(3):
            learn()
            if emptied:
                correct = 0
            with torch.no_grad():
                for x, y in LOADER:
                    correct += (model(x).argmax(1) == y).sum().item()
            print(correct / len(LOADER.dataset))

    found = facts_of(program, steps=1).facts(CounterNotReset)
    assert [fact.counter for fact in found] == ([] if emptied else ["correct"])
