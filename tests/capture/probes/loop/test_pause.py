"""`--shell-at STEP`: the shell opens once, before the weights of that step move."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

from facts_of import QUIET, facts_of, training
from paramedic.postmortem import shell


@pytest.mark.parametrize(("at", "opened"), [(2, ["paramedic: a shell before the update of step 2"]), (None, [])])
def test_a_shell_before_the_update_of_a_step(
    at: int | None, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, torch.Tensor]] = []
    model, x = nn.Linear(4, 1), torch.randn(8, 4)
    weights: list[torch.Tensor] = []
    learn = training(model, lambda: model(x).square().mean())

    def step() -> None:
        weights.append(model.weight.detach().clone())
        learn()

    def as_typed(names: dict[str, object], banner: str) -> None:
        seen.append((banner, model.weight.detach().clone()))

    monkeypatch.setattr(shell, "open_shell", as_typed)  # a person would have to type something
    facts_of(step, steps=4, settings=replace(QUIET, shell_at=at))
    assert [banner for banner, _ in seen] == opened
    assert all(torch.equal(then, weights[2]) for _, then in seen)
