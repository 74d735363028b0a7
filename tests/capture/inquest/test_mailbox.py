"""A loss that is sent without an event is read once it is there, whatever its value."""

from __future__ import annotations

import math

import pytest
import torch

from paramedic.capture.inquest.mailbox import Mailbox


@pytest.mark.parametrize("value", [0.5, -0.0, math.inf, math.nan])
def test_it_arrives_without_a_graph(value: float) -> None:
    mailbox, loss = Mailbox(), torch.tensor(value, requires_grad=True)
    assert mailbox.send(loss * 1)
    assert repr(mailbox.take()) == repr(value)
    assert mailbox.send(torch.tensor(2.0)) and mailbox.take() == 2.0


def test_other_types_are_not_sent() -> None:
    assert not Mailbox().send(torch.tensor(1.0, dtype=torch.float64))
