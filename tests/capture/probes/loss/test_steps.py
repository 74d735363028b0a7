"""Steps that are run again on a copy: what they say of the loss, whoever wrote it and however the loop looks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from facts_of import facts_of
from paramedic.record.facts import StepAsked, TargetAsked
from paramedic.settings import Settings

pytestmark = pytest.mark.usefixtures("alone")

ASKING = Settings(probes=True, budget=1.0)
Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def by_hand(scores: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
    return -scores.log_softmax(-1)[torch.arange(len(kinds)), kinds].mean()


def reversed_sign(scores: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
    return -by_hand(scores, kinds)


def without_a_square(scores: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
    return (scores.sum(-1) - kinds).mean()


def of_means(scores: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
    return (scores.sum(-1).mean() - kinds.float().mean()) ** 2


def asked(loss: Loss) -> TargetAsked:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Dropout(0.1), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step() -> None:
        x, y = torch.randn(24, 5), torch.randint(3, (24,))
        optimizer.zero_grad()
        value = loss(model(x), y)
        value.backward()
        optimizer.step()

    run = facts_of(step, steps=7, settings=ASKING)
    [told] = run.facts(StepAsked)
    assert told.reason is None and told.inputs == ["x"] and told.answers == [[24, 3]]
    [target] = told.targets
    return target


@pytest.mark.parametrize(
    ("loss", "towards", "paired", "steers"),
    [(by_hand, 1.0, True, True), (reversed_sign, 0.0, True, True), (of_means, None, False, True)],
)
def test_which_way_a_loss_pulls_and_whether_rows_matter(
    loss: Loss, towards: float | None, paired: bool, steers: bool
) -> None:
    target = asked(loss)
    assert (target.name, target.kind) == ("y", "class")
    assert (target.paired, target.steers) == (paired, steers)
    if towards is not None:
        assert (target.towards, target.away) == (towards, 1 - towards)


def test_a_target_that_changes_nothing_but_the_value() -> None:
    target = asked(without_a_square)
    assert not target.steers and not target.paired
    assert target.met_at is not None and target.met_at.function == "without_a_square"
