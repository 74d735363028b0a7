"""Learning-rate schedules: their horizon, and what becomes of the rate."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.optim import lr_scheduler

from facts_of import facts_of, training
from paramedic.record.facts import Schedule, SchedulerStep


def test_a_schedule_that_ends_long_before_the_training() -> None:
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    learn = training(model, lambda: model(torch.ones(8, 4)).square().mean(), optimizer)

    def program() -> None:
        schedule = lr_scheduler.LinearLR(optimizer, 1.0, 0.0, total_iters=4)
        for _ in range(10):
            learn()
            schedule.step()

    run = facts_of(program, steps=1)
    [found] = run.facts(Schedule)
    assert (found.class_, found.calls, found.steps, found.settings["total_iters"]) == ("LinearLR", 10, 10, 4)
    assert (found.peak, found.last, found.low_since) == (0.1, 0.0, 4)
    assert {fact.before_first_step for fact in run.facts(SchedulerStep)} == {False}


def test_a_scheduler_that_steps_before_its_optimizer() -> None:
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    learn = training(model, lambda: model(torch.ones(8, 4)).square().mean(), optimizer)

    def program() -> None:
        schedule = lr_scheduler.StepLR(optimizer, 2)
        for _ in range(3):
            schedule.step()
            learn()

    assert next(iter(facts_of(program, steps=1).facts(SchedulerStep))).before_first_step


@pytest.mark.parametrize(("name", "way"), [("accuracy", "rise"), ("loss", "fall"), ("number", None)])
def test_what_a_plateau_is_told(name: str, way: str | None) -> None:
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    learn = training(model, lambda: model(torch.ones(8, 4)).square().mean(), optimizer)

    def program() -> None:
        schedule = lr_scheduler.ReduceLROnPlateau(optimizer)
        for step in range(3):
            learn()
            if name == "accuracy":
                accuracy = step / 4
                schedule.step(accuracy)
            elif name == "loss":
                loss = step / 4
                schedule.step(loss)
            else:
                schedule.step(step / 4)

    [found] = facts_of(program, steps=1).facts(Schedule)
    assert list(found.told) == [0.0, 0.25, 0.5] and found.mode == "min"
    assert (found.meaning[1] if found.meaning else None) == way
