"""A training step as a function of the model's answers and of the data; for a forked process, it overwrites them."""

from __future__ import annotations

import contextlib
import copy
import functools
import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any

import numpy
import torch
from torch import nn

from paramedic.capture.apart.gradients import gradients
from paramedic.capture.facts import readable
from paramedic.capture.inquest.excerpt import Excerpt
from paramedic.capture.inquest.rerun import rerun
from paramedic.patching import Patches
from paramedic.program.tensors import tensors_in

MOST_OPENED = 4  # models that give the loss, one within the other
MOST_DATA = 5_000_000  # values that are kept, of all tensors that the statements use


class NotAgain(Exception):
    """The step cannot be run again, or not with this change."""


class TooLong(Exception):
    """The time for all runs together is over: what was not asked yet is not known."""


@dataclass(slots=True)
class Step:
    """The statements from the batch to the loss. `answers` are the model's, as the step itself computed them."""

    statements: Excerpt
    modules: list[nn.Module]
    seconds: float = float("inf")  # that all runs together may take
    data: dict[str, torch.Tensor] = field(default_factory=dict)  # what the statements use, under the variables' names
    answers: list[torch.Tensor] = field(default_factory=list)
    callers: list[tuple[nn.Module, int]] = field(default_factory=list)  # models in the order of calls; answers of each
    given: list[torch.Tensor] = field(default_factory=list)  # the answers that the statements were given last
    _kept: dict[str, torch.Tensor] = field(default_factory=dict)
    _outputs: list[object] = field(default_factory=list)  # of all calls of models, with the answers in them
    _opened: set[int] = field(default_factory=set)  # models that give the loss itself
    _buffers: list[tuple[torch.Tensor, torch.Tensor]] = field(default_factory=list)
    _end: float = float("inf")

    def __post_init__(self) -> None:
        self._end = time.monotonic() + self.seconds
        self.data = dict(_data_in({n: self.statements.variables[n] for n in self.statements.inputs}))
        self._kept = {name: tensor.clone() for name, tensor in self.data.items()}
        inner = {id(b): b for m in self.modules for b in m._buffers.values() if b is not None and readable(b)}
        self._buffers = [(buffer, buffer.clone()) for buffer in inner.values()]

    def whole(self) -> torch.Tensor:
        """The loss with everything as it was; from now on the model's answers are known."""
        for _ in range(MOST_OPENED):
            with _Models(self._opened) as models:
                loss = self._run()
            if not models.opening:
                break
            self._opened |= {id(module) for module in models.opening}
        self._outputs = models.outputs
        self.answers = [t.detach().clone() for output in self._outputs for t in _answers(output)]
        self.callers = [(m, len(_answers(o))) for m, o in zip(models.callers, models.outputs, strict=True)]
        return loss

    def again(self) -> torch.Tensor:
        """The loss with the data as they are now."""
        return self._run()

    def with_other(self, number: int, answers: list[torch.Tensor]) -> torch.Tensor:
        """The loss, had one call of a model given these answers; models that are called later get to see them."""
        with _Models(self._opened, other=(number, answers)):
            return self._run()

    def models_answers(self) -> list[torch.Tensor]:
        """What the model answers to the data as they are now."""
        with _Models(self._opened) as models:
            self._run()
        return [t.detach() for output in models.outputs for t in _answers(output)]

    def loss(self, answers: list[torch.Tensor]) -> torch.Tensor:
        """The loss, had the model answered this."""
        given = iter(answers)
        outputs = [_with(output, given) for output in self._outputs]
        self.given = [t for old, new in zip(self._outputs, outputs, strict=True) for t in _in_place_of(old, new)]
        with _Models(self._opened, iter(outputs)):
            return self._run()

    def slopes(self, answers: list[torch.Tensor]) -> tuple[float, list[torch.Tensor]]:
        """The loss, and its derivative for each answer: zeros where there is none."""
        leaves = [answer.detach().clone().requires_grad_() for answer in answers]
        loss = self.loss(leaves)
        found = gradients(loss, leaves)
        slopes = [torch.zeros_like(a) if g is None else g for a, g in zip(leaves, found, strict=True)]
        return float(loss.detach()), slopes

    @contextlib.contextmanager
    def changed(self, name: str, values: torch.Tensor) -> Iterator[None]:
        """With other values in one of the tensors that the statements use."""
        kept = self._kept[name]
        self._kept[name] = values.to(kept.dtype).reshape(kept.shape).clone()
        try:
            yield
        finally:
            self._kept[name] = kept

    def _run(self) -> torch.Tensor:
        if time.monotonic() > self._end:
            raise TooLong
        with torch.no_grad():
            for name, tensor in self.data.items():
                tensor.copy_(self._kept[name])
            for buffer, values in self._buffers:
                buffer.copy_(values)
        torch.default_generator.manual_seed(0)
        random.seed(0)
        numpy.random.seed(0)
        found = rerun(replace(self.statements, variables=dict(self.statements.variables)), contextlib.nullcontext())
        if isinstance(found, BaseException):
            raise NotAgain(f"{type(found).__name__}: {found}")
        if len(found) != 1 or found[0].numel() != 1:
            raise NotAgain("it ends in more than one number")
        return found[0].reshape(())


def _data_in(variables: dict[str, object]) -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors without a gradient that variables hold, each once, as far as there is room."""
    seen: set[int] = set()
    room = MOST_DATA
    for name, value in variables.items():
        for path, tensor in _held(value, name, 0):
            if id(tensor) in seen or tensor.requires_grad or not readable(tensor) or tensor.dim() == 0:
                continue
            seen.add(id(tensor))
            room -= tensor.numel()
            if room < 0:
                return
            yield path, tensor


def _held(value: object, path: str, depth: int) -> Iterator[tuple[str, torch.Tensor]]:
    """Also what lies in a partial function, or in an object that carries one: so frameworks hand a batch on."""
    if isinstance(value, functools.partial) and depth < 3:
        for index, item in enumerate((*value.args, *value.keywords.values())):
            yield from _held(item, f"{path}({index})", depth + 1)
    elif isinstance(value, (torch.Tensor, list, tuple, dict, Mapping)):
        yield from tensors_in(value, path)
    elif not isinstance(value, (nn.Module, type)) and depth < 2:
        for name, item in getattr(value, "__dict__", {}).items():
            if isinstance(item, (torch.Tensor, functools.partial, list, tuple, dict)):
                yield from _held(item, f"{path}.{name}", depth + 1)


class _Models:
    """Notes what models answer: modules with parameters that no other module has called; or gives answers instead.

    A module that gives the loss itself is looked into: the answers are then those of the modules that it calls.
    """

    def __init__(
        self,
        opened: set[int],
        given: Iterator[object] | None = None,
        other: tuple[int, list[torch.Tensor]] = (-1, []),
    ) -> None:
        self.opened, self.given, self.other = opened, given, other
        self.outputs: list[object] = []
        self.callers: list[nn.Module] = []
        self.opening: list[nn.Module] = []  # that gave the loss

    def __enter__(self) -> _Models:
        original = nn.Module.__call__
        self._within = False

        def call(module: nn.Module, *args: object, **kwargs: object) -> object:
            if self._within or id(module) in self.opened or not any(True for _ in module.parameters()):
                return original(module, *args, **kwargs)
            if self.given is not None:
                return next(self.given)
            self._within = True
            try:
                output = original(module, *args, **kwargs)
            finally:
                self._within = False
            if any(t.dim() == 0 and t.requires_grad for _, t in tensors_in(output)):
                self.opening.append(module)
            if len(self.outputs) == self.other[0]:
                output = _with(output, iter(self.other[1]))
            self.outputs.append(output)
            self.callers.append(module)
            return output

        self._put_back = Patches().stand_in(nn.Module, "__call__", call)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._put_back()


def _answers(output: object) -> list[torch.Tensor]:
    return [t for _, t in tensors_in(output) if _is_answer(t)]


def _in_place_of(old: Any, new: Any) -> list[torch.Tensor]:
    """The tensors that stand where the answers stood."""
    return [t for (_, was), (_, t) in zip(tensors_in(old), tensors_in(new), strict=False) if _is_answer(was)]


def _is_answer(tensor: torch.Tensor) -> bool:
    return tensor.requires_grad and tensor.dtype.is_floating_point and readable(tensor.detach())


def _with(value: Any, answers: Iterator[torch.Tensor]) -> Any:
    """The output with other answers in it: clones, so that the statements may write into them."""
    if isinstance(value, torch.Tensor):
        return next(answers).clone() if _is_answer(value) else value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_with(item, answers) for item in value))
    if isinstance(value, (list, tuple)):
        return type(value)(_with(item, answers) for item in value)
    if isinstance(value, Mapping) and any(True for _ in tensors_in(value)):
        made = copy.copy(value)
        for key in list(value):
            made[key] = _with(value[key], answers)  # type: ignore[index]
        return made
    return value
