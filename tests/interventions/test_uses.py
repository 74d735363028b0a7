"""What is an input and what is a target is found from what a script does with the parts of a batch."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from paramedic.interventions.meetings import Meetings
from paramedic.interventions.surroundings import LOSSES
from paramedic.interventions.uses import Roles, Uses

X, Y = torch.randn(8, 4), torch.randint(0, 3, (8,))
NET = nn.Linear(4, 3)
Step = Callable[..., torch.Tensor]


def roles(step: Step, *batch: torch.Tensor) -> Roles | None:
    uses = Uses(LOSSES)
    with uses:
        uses.batch({(place,): tensor for place, tensor in enumerate(batch)})
        step(*batch)
    return uses.roles()


def decode(source: torch.Tensor, told: torch.Tensor) -> torch.Tensor:
    embed = nn.Embedding(9, 3)
    return F.cross_entropy(embed(told[:, :-1]).flatten(0, 1) + embed(source).mean(), told[:, 1:].flatten())


@pytest.mark.parametrize(
    ("step", "batch", "inputs", "targets"),
    [
        (lambda x, y: F.cross_entropy(NET(x), y), (X, Y), [0], [1]),
        (lambda y, x: nn.NLLLoss()(NET(x.double().float()).log_softmax(1), y.view(-1)), (Y, X), [1], [0]),
        (lambda x, y: ((NET(x + 0.1 * torch.randn(8, 4)) - y) ** 2).mean(), (X, torch.randn(8, 3)), [0], [1]),
        (lambda a, p, n: nn.TripletMarginLoss()(NET(a), NET(p), NET(n)), (X, X + 1, X - 1), [0, 1, 2], []),
        (lambda a, b: F.cross_entropy(NET(a) @ NET(b).T, torch.arange(8)), (X, X + 1), [0, 1], []),
        (lambda x: F.mse_loss(nn.Linear(4, 4)(x), x), (X,), [0], []),
        (decode, (torch.randint(0, 9, (8, 5)), torch.randint(0, 3, (8, 6)) % 3), [0], [1]),
        (lambda x, y, z: F.cross_entropy(NET(x), y) + F.mse_loss(NET(x)[:, 0], z), (X, Y, X[:, 0] * 2), [0], [1, 2]),
        (lambda x, y: F.mse_loss(nn.Linear(4, 4)(x), x) + F.cross_entropy(NET(x), y), (X, Y), [0], [1]),
    ],
    ids=[
        "pair",
        "turned-round",
        "by-hand",
        "triplet",
        "contrastive",
        "autoencoder",
        "sequences",
        "two-targets",
        "drawn-and-told",
    ],
)
def test_roles_are_found_by_use(
    step: Step, batch: tuple[torch.Tensor, ...], inputs: list[int], targets: list[int]
) -> None:
    found = roles(step, *batch)
    assert found is not None
    assert [place for (place,) in found.inputs] == inputs and [place for (place,) in found.targets] == targets


def test_parts_that_meet_only_hidden_states_are_not_guessed_at() -> None:
    uses = Uses(LOSSES)
    uses.inside_model = lambda: True
    with uses:
        uses.batch({(0,): X, (1,): Y})
        (NET(X) * Y[:, None]).sum()
    assert uses.roles() is None


def test_the_mode_can_be_taken_off_from_below_another() -> None:
    uses, other = Uses(LOSSES), Uses(LOSSES)
    uses.__enter__()
    other.__enter__()
    uses.leave()
    assert torch.overrides._get_current_function_mode_stack() == [other]
    other.leave()
    assert torch.overrides._get_current_function_mode_stack() == []


def test_the_target_of_a_hand_written_loss_is_changed_and_the_input_is_not() -> None:
    x, y, weights = torch.randn(6, 4), torch.randn(6, 3), torch.full((6, 1), 2.0)
    drawn = nn.Linear(3, 4)(NET(x))
    expected = (weights * (NET(x) - y.flip(0)) ** 2).mean(), drawn - x
    with Meetings(lambda target: target.flip(0), lambda: False) as mode:
        mode.given = [x]
        made = (weights * (NET(x) - y) ** 2).mean(), drawn - x
    assert torch.equal(made[0], expected[0]) and torch.equal(made[1], expected[1])


def test_labels_that_are_used_as_an_index_are_targets() -> None:
    logits, y, rows = NET(X), torch.tensor([0, 1, 2, 0, 0, 1, 2, 2]), torch.arange(8)
    with Meetings(lambda target: target.flip(0), lambda: False) as mode:
        mode.given = [X]
        assert torch.equal(logits[rows, y], logits.gather(1, y[:, None])[:, 0])
        told = logits[rows, y]
    assert torch.equal(told, logits[rows, y.flip(0)])
