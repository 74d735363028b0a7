"""Terms of a loss are found where they are added up, and one of them can be left out of the gradient alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch

from paramedic.interventions.terms import Terms
from paramedic.patching import Patches

Watch = Callable[..., Terms]


@pytest.fixture
def watch() -> Iterator[Watch]:
    patches = Patches()
    yield lambda weights=None: Terms(patches.wrap, weights)
    patches.undo()


def train(loss_of: Callable[[torch.Tensor], torch.Tensor], steps: int = 12) -> torch.Tensor:
    weight = torch.ones(2, requires_grad=True)
    for _ in range(steps):
        weight.grad = None
        loss_of(weight).backward()  # type: ignore[no-untyped-call]
    assert weight.grad is not None
    return weight.grad


def summed(w: torch.Tensor) -> torch.Tensor:
    first, second = w[0] * 2, w[1] ** 2
    return first - 3 * second


def added_in_place(w: torch.Tensor) -> torch.Tensor:
    total = w[0] * 2
    total -= 3 * w[1] ** 2
    return total


def averaged(w: torch.Tensor) -> torch.Tensor:
    return sum([w[0] * 2, -3 * w[1] ** 2], torch.zeros(())) / 1


@pytest.mark.parametrize("loss", [summed, added_in_place, averaged])
def test_terms_are_found_with_their_values_in_the_sum(watch: Watch, loss: Callable[..., torch.Tensor]) -> None:
    terms = watch()
    train(loss)
    assert [(term["first"], term["last"]) for term in terms.noted()["terms"]] == [(2, 2), (-3, -3)]


def test_they_have_the_names_of_the_script_and_their_sign(watch: Watch) -> None:
    terms = watch()
    train(summed)
    assert [(term["name"], term["sign"]) for term in terms.noted()["terms"]] == [("first", 1), ("second", -1)]


@pytest.mark.parametrize(("weights", "gradient"), [({}, [2, -6]), ({1: 0.0}, [2, 0]), ({1: -1.0}, [2, 6])])
def test_what_flows_back_into_a_term_is_weighed(watch: Watch, weights: dict[int, float], gradient: list[float]) -> None:
    watch(weights)
    assert train(summed).tolist() == gradient


def test_a_loss_that_is_no_sum_has_no_terms(watch: Watch) -> None:
    terms = watch({0: 0.0})
    assert train(lambda w: (w**2).sum()).tolist() == [2, 2]
    assert terms.noted() == {} and terms.weighed == 0
