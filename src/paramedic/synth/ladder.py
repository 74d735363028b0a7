"""Train a model rung by rung and say where it breaks. Learnt is judged against the optimum, which is known.

Batches are always new, so nothing can be memorised: a model that breaks cannot represent the task, or cannot be
trained to. Before that is said, it is tried with several learning rates.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from paramedic.errors import ParamedicError
from paramedic.synth import goals
from paramedic.synth.dataset import tensors
from paramedic.synth.sampling import Source
from paramedic.synth.task import Rung, Task

RATES = (3e-3, 3e-4, 3e-2)  # of Adam; the next is tried when the one before did not do
STEPS = 1500
BATCH = 128
TESTS = 1024
LEARNT = 0.9  # of the way from the best blind answer to the optimum
LOOK = 50  # steps between two looks at the test set


@dataclass(frozen=True, slots=True, kw_only=True)
class Climb:
    """How one rung went."""

    level: int
    rung: Rung
    error: float  # of the best try, on the test set
    optimum: float  # of any model on that test set
    blind: float  # of the best answer that ignores the input
    rate: float
    steps: int
    seconds: float

    @property
    def learnt(self) -> float:
        """Share of what can be learnt: 0 for the blind answer, 1 for the optimum."""
        share = (self.blind - self.error) / max(self.blind - self.optimum, 1e-12)
        return share if share == share else 0.0  # NaN has learnt nothing

    @property
    def passed(self) -> bool:
        return self.learnt >= LEARNT


def climb(
    make: Callable[[], Any], task: Task, settings: Mapping[str, Any], *, steps: int = STEPS, seed: int = 0
) -> Iterator[Climb]:
    """Rung after rung, up to the first that breaks."""
    for level in range(1, len(task.rungs) + 1):
        result = _rung(make, task, settings, level, steps, seed)
        yield result
        if not result.passed:
            return


def _rung(make: Callable[[], Any], task: Task, settings: Mapping[str, Any], level: int, steps: int, seed: int) -> Climb:
    begin = time.monotonic()
    best: Climb | None = None
    for rate in RATES:
        error, optimum, blind, taken = _train(make, task, settings, level, rate, steps, seed)
        seconds = time.monotonic() - begin
        tried = Climb(
            level=level, rung=task.rungs[level - 1], error=error, optimum=optimum, blind=blind,
            rate=rate, steps=taken, seconds=seconds,
        )  # fmt: skip
        if best is None or tried.learnt > best.learnt:
            best = tried
        if tried.passed:
            return tried
    assert best is not None
    return best


def _train(
    make: Callable[[], Any], task: Task, settings: Mapping[str, Any], level: int, rate: float, steps: int, seed: int
) -> tuple[float, float, float, int]:
    """Error of the best look, optimum, blind error and steps taken."""
    train, test = (Source(task, level, settings, seed=seed, split="random", part=part) for part in ("train", "test"))
    held_out = test.arrays(TESTS)
    inputs, target = tensors(held_out)
    classes = classes_of(task, settings, seed)
    optimum, blind = float(held_out.risk.mean()), goals.blind_error(task, target, classes)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = make()
        optimizer = torch.optim.Adam(_parameters(model), lr=rate)
        decay = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(1 - step / steps, 0.02))
        error = float("inf")
        for step in range(1, steps + 1):
            x, y = tensors(train.arrays(BATCH, start=BATCH * step))
            model.train()
            loss = goals.loss(task, goals.fit(task, model(x), y, classes), y)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            decay.step()
            if step % LOOK == 0 or step == steps:
                error = min(error, _look(model, task, inputs, target, classes))
                if (blind - error) / max(blind - optimum, 1e-12) >= LEARNT or not torch.isfinite(loss):
                    return error, optimum, blind, step
    return error, optimum, blind, steps


def classes_of(task: Task, settings: Mapping[str, Any], seed: int) -> int:
    """The same for all rungs, since one model climbs them all."""
    draws = (
        Source(task, level, settings, seed=seed, split="random", part="train").arrays(TESTS)
        for level in range(1, len(task.rungs) + 1)
    )
    return 0 if task.goal in ("values", "labels") else max(goals.count_classes(task, draw) for draw in draws)


def _parameters(model: Any) -> list[Any]:
    found = [p for p in model.parameters() if p.requires_grad] if isinstance(model, torch.nn.Module) else []
    if not found:
        raise ParamedicError(
            f"the factory returned {type(model).__name__} without anything to train",
            expected="a torch.nn.Module with parameters that require gradients",
            fix="paramedic synth ladder model.py:make_model",
        )
    return found


def _look(model: Any, task: Task, inputs: Any, target: Any, classes: int) -> float:
    model.eval()
    with torch.no_grad():
        error = goals.error(task, goals.fit(task, model(inputs), target, classes), target)
    return error if error == error else float("inf")


def fits(make: Callable[[], Any], task: Task, settings: Mapping[str, Any]) -> str:
    """Empty when the model takes this task's inputs and returns what it asks for; else what is wrong."""
    draw = Source(task, 1, settings, seed=0, split="random", part="train").arrays(4)
    x, y = tensors(draw)
    with torch.random.fork_rng(devices=[]):
        model = make()
        _parameters(model)
        try:
            with torch.no_grad():
                goals.fit(task, model.eval()(x), y, classes_of(task, settings, 0))
        except ParamedicError as error:
            return f"{error.what}, expected {error.expected}"
        except Exception as error:  # the model's own complaint about an input that was not made for it
            return str(error).splitlines()[0] if str(error) else type(error).__name__
    return ""
