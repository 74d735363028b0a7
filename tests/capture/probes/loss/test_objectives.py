"""Which way the parts of an objective are pushed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import distributions, nn

from facts_of import facts_of, training
from paramedic.record.facts import ClippedSurrogate, Divergence, Entropy, Fact, LogProb, Pushed, Quotient

X, Y = torch.randn(16, 4), torch.randn(16, 3)
SCORES = Callable[[torch.Tensor], torch.Tensor]


def found(kind: type[Fact], loss: SCORES) -> list[Fact]:
    model = nn.Linear(4, 3)
    return facts_of(training(model, lambda: loss(model(X)))).facts(kind)


def surrogate(scores: torch.Tensor) -> torch.Tensor:
    ratio = (scores - scores.detach()).exp()
    return torch.min(ratio * Y, ratio.clamp(0.8, 1.2) * Y).mean()


def likelihood(scores: torch.Tensor) -> torch.Tensor:
    return distributions.Categorical(logits=scores).log_prob(torch.zeros(16)).mean()


def entropy(scores: torch.Tensor) -> torch.Tensor:
    return distributions.Categorical(logits=scores).entropy().mean()


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("kind", "value"), [(ClippedSurrogate, surrogate), (LogProb, likelihood), (Entropy, entropy)])
def test_the_slope_of_a_part(kind: type[Fact], value: SCORES, sign: int) -> None:
    told = found(kind, lambda scores: sign * value(scores))
    assert {fact.slope for fact in told} == {sign}
    assert not found(kind, lambda scores: scores.square().mean())


@pytest.mark.parametrize("sign", [1, -1])
def test_the_slope_of_a_loss_function(sign: int) -> None:
    told = found(Pushed, lambda scores: sign * F.mse_loss(scores, Y))
    assert {(fact.function, fact.slope) for fact in told} == {("mse_loss", sign)}


@pytest.mark.parametrize(("sign", "below"), [(-0.5, False), (0.5, True)])
def test_a_divergence_below_zero(sign: float, below: bool) -> None:
    def loss(scores: torch.Tensor) -> torch.Tensor:
        mu, logvar = scores[:, :1], scores[:, 1:]
        kl = sign * (1 + logvar - mu.pow(2) - logvar.exp()).sum()
        return scores.square().mean() + kl

    assert {(fact.name, fact.below, fact.closed_form) for fact in found(Divergence, loss)} == {("kl", below, True)}


def test_a_quotient_that_is_always_the_same() -> None:
    def loss(scores: torch.Tensor) -> torch.Tensor:
        total = scores.square().sum()
        return total / (2 * total)

    assert {fact.value for fact in found(Quotient, loss)} == {0.5}
    assert not found(Quotient, lambda scores: scores.square().sum() / 16)
