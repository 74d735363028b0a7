"""Which parameters got a gradient, and which moved."""

from __future__ import annotations

import torch
from torch import nn

from facts_of import facts_of, training
from paramedic.capture.probes.model.census import GRADIENT, MOVED, TRAINABLE
from paramedic.record.facts import Census, Cut


def test_a_layer_that_gets_no_gradient_and_one_that_no_optimizer_holds() -> None:
    model, x = (
        nn.ModuleDict({"used": nn.Linear(4, 4), "idle": nn.Linear(4, 4), "left_out": nn.Linear(4, 1)}),
        torch.randn(8, 4),
    )
    held = [*model["used"].parameters(), *model["idle"].parameters()]
    optimizer = torch.optim.SGD(held, lr=0.1)
    run = facts_of(training(model, lambda: model["left_out"](model["used"](x)).square().mean(), optimizer))
    found = run.facts(Census)
    flags = dict(zip(found[0].names, found[0].flags, strict=True))
    used, idle = (
        next(value for name, value in flags.items() if part in name) for part in ("used.weight", "idle.weight")
    )
    assert used & TRAINABLE and used & GRADIENT and used & MOVED
    assert idle & TRAINABLE and not idle & GRADIENT and not idle & MOVED
    assert any("left_out.weight" in name for name in found[0].outside)


def test_the_call_that_ended_the_path_of_the_gradient() -> None:
    first, second, x = nn.Linear(4, 4), nn.Linear(4, 1), torch.randn(8, 4)
    whole = nn.ModuleList([first, second])
    cut = facts_of(training(whole, lambda: second(first(x).detach()).square().mean())).facts(Cut)
    assert {fact.op for fact in cut} == {".detach()"}
    assert not facts_of(training(whole, lambda: second(first(x)).square().mean())).facts(Cut)
