"""Probes of the loss family, each on a few steps in this process."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import distributions, nn

from facts_of import facts_of
from paramedic.record.facts import ClassTarget, Ctc, Drawn, LossCall, TwinBranches, TwinInputs


def trained(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.parameters(), lr=0.1)


def test_class_numbers_as_the_target_of_a_squared_error() -> None:
    model = nn.Linear(4, 1)
    optimizer, x, y = trained(model), torch.randn(32, 4), torch.arange(32) % 3

    def step() -> None:
        optimizer.zero_grad()
        F.mse_loss(model(x).squeeze(1), y.float()).backward()
        optimizer.step()

    run = facts_of(step)
    assert {call.function for call in run.facts(LossCall)} == {"mse_loss"}
    assert [fact.function for fact in run.facts(ClassTarget)][:1] == ["mse_loss"]


def test_numbers_that_are_no_classes_are_none() -> None:
    model = nn.Linear(4, 1)
    optimizer, x = trained(model), torch.randn(32, 4)

    def step() -> None:
        optimizer.zero_grad()
        F.mse_loss(model(x), x.sum(1, keepdim=True)).backward()
        optimizer.step()

    assert not facts_of(step).facts(ClassTarget)


def test_what_is_drawn_and_given_to_a_layer() -> None:
    encoder, decoder = nn.Linear(4, 2), nn.Linear(2, 4)
    optimizer, x = trained(nn.ModuleList([encoder, decoder])), torch.randn(16, 4)

    def step(*, reparametrised: bool) -> None:
        optimizer.zero_grad()
        mean = encoder(x)
        chosen = distributions.Normal(mean, 1.0)
        z = chosen.rsample() if reparametrised else chosen.sample()
        (F.mse_loss(decoder(z), x) + 0.01 * mean.square().mean()).backward()
        optimizer.step()

    assert [fact.function for fact in facts_of(lambda: step(reparametrised=False)).facts(Drawn)] == [".sample()"]
    assert not facts_of(lambda: step(reparametrised=True)).facts(Drawn)


def test_a_target_that_is_too_long_for_ctc() -> None:
    model = nn.Linear(4, 5)
    optimizer, x = trained(model), torch.randn(6, 2, 4)

    def step() -> None:
        optimizer.zero_grad()
        scores = model(x).log_softmax(-1)
        lengths, targets = torch.tensor([6, 3]), torch.tensor([[1, 2, 3, 4], [1, 1, 1, 1]])
        F.ctc_loss(scores, targets, lengths, torch.tensor([4, 4]), zero_infinity=True).backward()
        optimizer.step()

    assert {(fact.short, fact.samples) for fact in facts_of(step).facts(Ctc)} == {(1, 2)}


def test_two_branches_that_are_the_same() -> None:
    model = nn.Linear(8, 4)
    optimizer, view = trained(model), torch.randn(16, 8)
    other = view.clone()

    def step() -> None:
        optimizer.zero_grad()
        a, b = model(view), model(other)
        (a - b).square().mean().backward()
        optimizer.step()

    run = facts_of(step)
    assert {fact.same for fact in run.facts(TwinBranches)} == {True}
    assert {(fact.first, fact.second, fact.same) for fact in run.facts(TwinInputs)} == {("view", "other", True)}
