"""What was compiled, and what made it compile again."""

from __future__ import annotations

import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.record.facts import Compile, Recompile


def test_a_shape_that_changes_compiles_again() -> None:
    torch.compiler.reset()
    sizes = iter([4, 5, 6])

    def program() -> None:
        model = nn.Sequential(nn.Linear(3, 1))
        compiled = torch.compile(model, backend="eager", dynamic=False)
        learn = training(model, lambda: compiled(torch.ones(next(sizes), 3)).square().mean())
        for _ in range(3):
            learn()

    run = facts_of(program, steps=1)
    assert len(run.facts(Compile)) == 1
    again = run.facts(Recompile)
    assert again and all("size mismatch" in fact.reason for fact in again)


def test_without_a_compiler_nothing_is_said() -> None:
    model = nn.Linear(3, 1)
    assert not facts_of(training(model, lambda: model(torch.ones(4, 3)).square().mean())).facts(Compile)
