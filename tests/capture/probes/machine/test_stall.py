"""Where everybody stands while nothing moves."""

from __future__ import annotations

import io
import pdb
import time

import pytest
import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.capture.probes.machine import stall
from paramedic.record.facts import Stall


@pytest.mark.parametrize("patience", [0.2, 60.0])
def test_a_call_that_does_not_return(patience: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stall, "LEAST", patience)
    monkeypatch.setattr(stall, "TIMES_A_STEP", 0)
    monkeypatch.setattr(stall, "TIMES_THE_LONGEST", 0)  # however slow this machine is
    model = nn.Linear(4, 1)
    learn = training(model, lambda: model(torch.ones(8, 4)).square().mean())

    def program() -> None:
        for _ in range(20):
            learn()
        time.sleep(1.5)

    found = facts_of(program, steps=1).facts(Stall)
    assert [(fact.over, fact.where.function) for fact in found if not fact.over] == (
        [(False, "program")] if patience < 1 else []
    )


def test_nobody_is_hurried_in_a_debugger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stall, "LEAST", 0.2)
    monkeypatch.setattr(stall, "TIMES_A_STEP", 0)
    monkeypatch.setattr(stall, "TIMES_THE_LONGEST", 0)
    model = nn.Linear(4, 1)
    learn = training(model, lambda: model(torch.ones(8, 4)).square().mean())

    def program() -> None:
        for _ in range(20):
            learn()
        pdb.Pdb(stdin=SlowReader(), stdout=io.StringIO(), nosigint=True, readrc=False).set_trace()
        learn()

    assert not facts_of(program, steps=1).facts(Stall)


class SlowReader(io.StringIO):
    """Somebody who thinks before typing."""

    def readline(self, size: int | None = -1) -> str:
        time.sleep(1.0)
        return "continue\n"
