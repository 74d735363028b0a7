"""Variables that grow from step to step."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from facts_of import facts_of
from paramedic.record.facts import Hoard, Retained
from paramedic.record.reader import Run


def kept(what: str) -> Run:
    model = nn.Linear(4, 1)

    def program() -> None:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        losses: list[object] = []
        for _ in range(24):
            loss = model(torch.ones(8, 4)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append({"graphs": loss, "bytes": torch.ones(100_000), "numbers": loss.item()}[what])

    return facts_of(program, steps=1)


def test_losses_with_their_graphs() -> None:
    found = kept("graphs").facts(Retained)
    assert found and {(fact.variable.rpartition(".")[2], fact.how) for fact in found} == {("losses", "list")}
    assert all(fact.per_step == 1 for fact in found)


def test_large_tensors_that_pile_up() -> None:
    found = kept("bytes").facts(Hoard)
    assert found and all(fact.per_step == 400_000 and not fact.bounded for fact in found)


@pytest.mark.parametrize("kind", [Retained, Hoard])
def test_plain_numbers_are_nobodys_trouble(kind: type[Retained] | type[Hoard]) -> None:
    assert not kept("numbers").facts(kind)
