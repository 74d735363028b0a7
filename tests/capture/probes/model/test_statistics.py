"""Statistics of gradients, weights, updates and outputs, one row per tensor."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import QUIET, facts_of, training
from paramedic.record.facts import NotSummarised
from paramedic.settings import Settings


def test_the_numbers_are_those_of_the_tensors() -> None:
    model, x = nn.Linear(4, 1, bias=False), torch.randn(8, 4)
    weights: list[torch.Tensor] = []
    learn = training(model, lambda: model(x).square().mean())

    def step() -> None:
        weights.append(model.weight.detach().clone())
        learn()

    run = facts_of(step, settings=Settings(probes=False, every=1))
    found = {sample.step: sample for sample in run.samples("weight")}
    assert sorted(found) == [0, 1, 2]
    for number, before in enumerate(weights):
        [summary] = found[number].summaries.values()
        assert summary.mean == pytest.approx(before.mean().item(), rel=1e-4)
    assert run.samples("gradient") and run.samples("update") and run.samples("output")
    assert not run.facts(NotSummarised)


class Named(torch.Tensor):
    pass


class Wrapping(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.as_subclass(Named)


def test_what_cannot_be_summarised_is_said() -> None:
    model = nn.Sequential(nn.Linear(4, 1), Wrapping())
    step = training(model, lambda: model(torch.ones(8, 4)).as_subclass(torch.Tensor).square().mean())
    found = facts_of(step, settings=Settings(probes=False, every=1)).facts(NotSummarised)
    assert {fact.role for fact in found} == {"output"} and all("Named" in fact.reason for fact in found)


def test_without_a_budget_there_are_none() -> None:
    model = nn.Linear(4, 1)
    run = facts_of(training(model, lambda: model(torch.ones(2, 4)).square().mean()), settings=QUIET)
    assert not run.samples("weight") and not run.samples("gradient")
