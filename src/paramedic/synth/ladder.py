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
from torch import nn

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """What stays the same over all rungs."""

    make: Callable[[], object]
    task: Task
    settings: Mapping[str, Any]
    steps: int
    seed: int
    classes: int

    def source(self, level: int, part: str) -> Source:
        return Source(self.task, level, self.settings, seed=self.seed, split="random", part=part)


def climb(
    make: Callable[[], object], task: Task, settings: Mapping[str, object], *, steps: int = STEPS, seed: int = 0
) -> Iterator[Climb]:
    """Rung after rung, up to the first that breaks."""
    classes = classes_of(task, settings, seed)
    course = Course(make=make, task=task, settings=settings, steps=steps, seed=seed, classes=classes)
    for level in range(1, len(task.rungs) + 1):
        result = _best_try(course, level)
        yield result
        if not result.passed:
            return


def _best_try(course: Course, level: int) -> Climb:
    begin = time.monotonic()
    tries: list[Climb] = []
    for rate in RATES:
        *_, last = _tries(course, level, rate, begin)
        tries.append(last)
        if last.passed:
            return last
    return max(tries, key=lambda tried: tried.learnt)


def _tries(course: Course, level: int, rate: float, begin: float) -> Iterator[Climb]:
    """Train, and say every few steps how it stands; the best so far counts. Ends early when the rung is learnt."""
    held_out = course.source(level, "test").arrays(TESTS)
    inputs, target = tensors(held_out)
    blind = goals.blind_error(course.task, target, course.classes)
    error = float("inf")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(course.seed)
        model = course.make()
        for step, loss in _steps(model, course, level, rate):
            if step % LOOK and step != course.steps:
                continue
            error = min(error, _look(model, course, inputs, target))
            now = Climb(
                level=level, rung=course.task.rungs[level - 1], error=error, optimum=float(held_out.risk.mean()),
                blind=blind, rate=rate, steps=step, seconds=time.monotonic() - begin,
            )  # fmt: skip
            yield now
            if now.passed or not torch.isfinite(loss):
                return


def _steps(model: nn.Module, course: Course, level: int, rate: float) -> Iterator[tuple[int, object]]:
    """Number and loss of each training step."""
    optimizer = torch.optim.Adam(_parameters(model), lr=rate)
    decay = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(1 - step / course.steps, 0.02))
    source = course.source(level, "train")
    for step in range(1, course.steps + 1):
        x, y = tensors(source.arrays(BATCH, start=BATCH * step))
        model.train()
        loss = goals.loss(course.task, goals.fit(course.task, model(x), y, course.classes), y)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        decay.step()
        yield step, loss.detach()


def classes_of(task: Task, settings: Mapping[str, object], seed: int) -> int:
    """The same for all rungs, since one model climbs them all; 0 where nothing is classified."""
    if task.goal in ("values", "labels"):
        return 0
    sources = (
        Source(task, level, settings, seed=seed, split="random", part="train")
        for level in range(1, len(task.rungs) + 1)
    )
    return max(goals.count_classes(task, source.arrays(TESTS)) for source in sources)


def _parameters(model: object) -> list[Any]:
    found = [p for p in model.parameters() if p.requires_grad] if isinstance(model, torch.nn.Module) else []
    if not found:
        raise ParamedicError(
            f"the factory returned {type(model).__name__} without anything to train",
            expected="a torch.nn.Module with parameters that require gradients",
            fix="paramedic synth ladder model.py:make_model",
        )
    return found


def _look(model: nn.Module, course: Course, inputs: object, target: object) -> float:
    model.eval()
    with torch.no_grad():
        output = goals.fit(course.task, model(inputs), target, course.classes)
        error = goals.error(course.task, output, target)
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
                output = model.eval()(x)
            goals.fit(task, output, y, classes_of(task, settings, 0))
        except ParamedicError as error:
            return f"{error.what}, expected {error.expected}"
        except Exception as error:  # the model's own complaint about an input that was not made for it
            return str(error).splitlines()[0] if str(error) else type(error).__name__
    return ""
