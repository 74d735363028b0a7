"""What a step computes and its loss does not use: answers of the model, and data on which only such answers depend."""

from __future__ import annotations

import sys
from contextlib import suppress
from types import FrameType

import torch
from torch.overrides import TorchFunctionMode

from paramedic.aliases import Args, Fields, Function, Kwargs
from paramedic.capture.step.step import NotAgain, Step
from paramedic.program.tensors import tensors_in
from paramedic.program.where import frame_site, is_users, locals_of, user_site
from paramedic.record.writer import Site

MOST = 8  # answers of one step


def calls(step: Step) -> list[Fields]:
    """The calls of models, in their order, and which of their answers the loss uses, through other models, too."""
    unused = _unused(step)
    numbers: dict[int, int] = {}
    found, index = [], 0
    for module, size in step.callers:
        known = range(index, index + size)
        index += size
        found.append(
            {
                "model": numbers.setdefault(id(module), len(numbers)),
                "class": type(module).__name__,
                "answers": [list(step.answers[i].shape) for i in known],
                "used": [i not in unused for i in known],
            }
        )
    return found


def passed_over_at(step: Step) -> list[object] | None:
    """The line that could have used an answer and did not: the innermost function that has it at hand when the loss
    first uses another one."""
    unused = _unused(step)
    if not unused:
        return None
    with _FirstUse(step, unused) as seen:
        step.loss(step.answers)
    return seen.site


def _unused(step: Step) -> set[int]:
    """Answers that have no part in the loss: with other numbers in their place it is exactly the same."""
    loss, found, first = float(step.whole().detach()), set[int](), 0
    drawn = torch.Generator().manual_seed(1)
    for number, (_, size) in enumerate(step.callers):
        own = step.answers[first : first + size]
        for index, answer in enumerate(own if len(step.answers) <= MOST else []):
            noise = torch.randn(answer.shape, generator=drawn).to(answer.dtype)
            other = [1.7 * answer + noise if i == index else a for i, a in enumerate(own)]
            with suppress(NotAgain):
                if float(step.with_other(number, other).detach()) == loss:
                    found.add(first + index)
        first += size
    return found


def idle_inputs(step: Step, names: list[str]) -> list[str]:
    """Those of these data on which answers depend, but the loss does not."""
    loss, found = float(step.whole().detach()), []
    for name in names:
        level = step.data[name].detach()[:1].clone().expand_as(step.data[name])
        with suppress(NotAgain), step.changed(name, level):
            if float(step.again().detach()) == loss:
                found.append(name)
    return found


class _FirstUse(TorchFunctionMode):
    """Waits for the first operation on an answer that the loss uses."""

    def __init__(self, step: Step, unused: set[int]) -> None:
        super().__init__()
        self.site: list[object] | None = None
        self._step, self._unused = step, unused

    def __torch_function__(
        self, func: Function, types: object, args: Args = (), kwargs: Kwargs | None = None
    ) -> object:
        result = func(*args, **(kwargs or {}))
        if self.site is None and self._step.given and any(True for _ in tensors_in(result)):
            given = self._step.given
            idle = {id(given[i]) for i in self._unused if i < len(given)}
            used = {id(tensor) for tensor in given} - idle
            if any(id(tensor) in used for _, tensor in tensors_in((args, kwargs or {}))):
                self.site = list(_seen_from(sys._getframe(1), idle) or user_site())
        return result


def _seen_from(frame: FrameType | None, wanted: set[int]) -> Site | None:
    while frame is not None:
        if is_users(frame.f_code.co_filename) and any(
            id(tensor) in wanted
            for value in list(locals_of(frame).values())
            if isinstance(value, (torch.Tensor, list, tuple, dict))
            for _, tensor in tensors_in(value)
        ):
            return frame_site(frame)
        frame = frame.f_back
    return None
