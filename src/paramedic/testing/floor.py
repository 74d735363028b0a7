"""The smallest value that a loss can have on a batch, whatever the model: found by training the outputs themselves."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from paramedic.testing.case import Case

STEPS = 200
RATES = (0.3, 0.03)


def floor_of(case: Case) -> float | None:
    """None where the loss needs more of the model than what it returns; -inf where there is no floor."""
    return _lowest(case, tied=False)


def guess_of(case: Case, floor: float | None) -> tuple[float, float]:
    """The loss of the best answer that is the same for all samples, and the floor: known, or taken to be zero."""
    with torch.no_grad():
        start = float(case.compute())
    if floor is None:
        return start, 0.0 if start > 0 else start - abs(start)
    guess = _lowest(case, tied=True)
    # Where all samples have one target, guessing is perfect: then the start is what counts.
    useful = guess is not None and guess - floor > 0.2 * abs(guess) and guess < start
    return (guess if useful and guess is not None else max(start, floor + 1e-6)), floor


def _lowest(case: Case, *, tied: bool) -> float | None:
    with contextlib.suppress(Exception):
        output = case.call().output
        return min(_descend(case, output, rate, tied=tied) for rate in RATES)
    return None


def _descend(case: Case, output: object, rate: float, *, tied: bool) -> float:
    free = _Free(output, tied=tied)
    size = max([1.0, *(float(p.detach().abs().max()) for p in free.parameters() if p.numel())])
    optimizer = torch.optim.Adam(free.parameters(), lr=rate * size)
    values: list[float] = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = case.compute(free)
        loss.backward()
        optimizer.step()
        values.append(float(loss.detach()))
    low = min(value for value in values if value == value)
    # A loss with a floor slows down as it comes near; one without falls as fast in the end as in the beginning.
    half = len(values) // 2
    is_falling = low < 0 and values[half] - values[-1] > 0.5 * (values[0] - values[half]) > 0
    return float("-inf") if is_falling and values[-1] < min(0.0, values[0]) - 1 else low


class _Free(nn.Module):
    """Stands in for the model: whatever it is asked, it returns tensors of the same kind, which can be trained.

    With `tied`, all samples get one answer. Probabilities and their logarithms stay such: a loss of log-probabilities
    has no floor where these may sum to more than one.
    """

    def __init__(self, output: object, *, tied: bool) -> None:
        super().__init__()
        self.tied = tied
        self._count = 0
        self._output = self._freed(output)

    def _freed(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.dtype.is_floating_point:
            if value.dim() == 0:
                raise TypeError("the model computes the loss itself")
            kind, dim = _normalised(value.detach())
            start = value.detach().clamp(min=1e-12).log() if kind == "probabilities" else value.detach()
            start = start.mean(0, keepdim=True) if self.tied and value.dim() else start
            self._count += 1
            parameter = nn.Parameter(start.clone())
            self.register_parameter(f"free{self._count}", parameter)
            return _Leaf(parameter, tuple(value.shape), kind, dim)
        if type(value) is dict:
            return {key: self._freed(item) for key, item in value.items()}
        if type(value) in (list, tuple):
            return type(value)(self._freed(item) for item in value)
        if isinstance(value, torch.Tensor):
            return value
        raise TypeError(f"cannot stand in for a {type(value).__name__}")

    def forward(self, *args: object, **kwargs: object) -> object:
        return _answer(self._output)


@dataclass(frozen=True, slots=True)
class _Leaf:
    parameter: nn.Parameter
    shape: tuple[int, ...]
    kind: str
    dim: int

    def value(self) -> torch.Tensor:
        given: torch.Tensor = self.parameter
        if self.kind:
            given = given.log_softmax(self.dim) if self.kind == "logarithms" else given.softmax(self.dim)
        return given.expand(self.shape)


def _answer(value: Any) -> Any:
    if isinstance(value, _Leaf):
        return value.value()
    if type(value) is dict:
        return {key: _answer(item) for key, item in value.items()}
    return type(value)(_answer(item) for item in value) if type(value) in (list, tuple) else value


def _normalised(value: torch.Tensor) -> tuple[str, int]:
    """Whether these are probabilities of classes, or their logarithms, and along which dimension."""
    for dim in dict.fromkeys((value.dim() - 1, 1)):
        if dim < 1 or dim >= value.dim() or value.shape[dim] < 2 or not value.numel():
            continue
        for kind, numbers in (("logarithms", value.double().exp()), ("probabilities", value.double())):
            ones = numbers.sum(dim)
            if bool((numbers >= 0).all()) and bool(torch.isclose(ones, torch.ones_like(ones), atol=1e-3).all()):
                return kind, dim
    return "", 0
