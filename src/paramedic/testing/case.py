"""What most assertions are given: a model, a loss and a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from paramedic.aliases import Args, Fields
from paramedic.errors import ParamedicError
from paramedic.program.tensors import tensors_in

TARGET_KEYS = ("labels", "label", "targets", "target", "y")


class Step:
    """A loss that is computed from the model and the batch as a whole: `Step(lambda model, batch: …)`."""

    def __init__(self, function: Callable[[Any, Any], torch.Tensor]) -> None:
        self.function = function

    def __call__(self, model: nn.Module, batch: object) -> torch.Tensor:
        return self.function(model, batch)


@dataclass(frozen=True, slots=True)
class Called:
    """The first call of the model within a step."""

    args: Args
    kwargs: Fields
    output: Any

    @property
    def inputs(self) -> list[torch.Tensor]:
        return [tensor for _, tensor in tensors_in((self.args, self.kwargs))]

    @property
    def floats(self) -> list[torch.Tensor]:
        """The outputs that are real numbers."""
        return [t for _, t in tensors_in(self.output) if t.dtype.is_floating_point]


class Case:
    """A model, a loss and a batch.

    The batch is (inputs …, target) with a loss of (output, target), or a dict with the target under `labels`, `target`
    or `y`. Without a loss the model's output has one, as those of transformers have. A `Step` gets model and batch.
    """

    def __init__(self, model: nn.Module, loss: object, batch: object) -> None:
        if not isinstance(model, nn.Module):
            raise ParamedicError(f"the model is a {type(model).__name__}", expected="a torch.nn.Module")
        if loss is not None and not callable(loss):
            raise ParamedicError(
                f"the loss is a {type(loss).__name__}",
                expected="a function of output and target",
                fix="F.cross_entropy",
            )
        self.model, self.loss, self.batch = model, loss, batch

    def compute(self, model: nn.Module | None = None) -> torch.Tensor:
        """The loss, one number, by this model or by a stand-in for it."""
        model = self.model if model is None else model
        if isinstance(self.loss, Step):
            value = self.loss(model, self.batch)
        else:
            args, kwargs, target = split(self.batch, own_loss=self.loss is None)
            output = model(*args, **kwargs)
            value = _own_loss(output) if self.loss is None else self.loss(output, target)
        if not isinstance(value, torch.Tensor) or value.numel() != 1:
            shape = tuple(value.shape) if isinstance(value, torch.Tensor) else type(value).__name__
            raise ParamedicError(f"the loss gives {shape}", expected="one number", fix="reduction='mean'")
        return value

    def call(self) -> Called:
        """One step without gradients, as it is seen at the model's door."""
        found: list[Called] = []

        def note(module: nn.Module, args: Args, kwargs: Any, output: object) -> None:
            if not found:
                found.append(Called(args, kwargs, output))

        hook = self.model.register_forward_hook(note, with_kwargs=True)
        try:
            with torch.no_grad():
                self.compute()
        finally:
            hook.remove()
        if not found:
            raise ParamedicError("the loss was computed without calling the model", expected="model(inputs) in it")
        return found[0]

    def targets(self) -> list[torch.Tensor]:
        if isinstance(self.loss, Step):
            inputs = {id(t) for t in self.call().inputs}
            return [t for _, t in tensors_in(self.batch) if id(t) not in inputs]
        return [tensor for _, tensor in tensors_in(split(self.batch)[2])]


def split(batch: object, *, own_loss: bool = False) -> tuple[tuple[Any, ...], dict[str, Any], Any]:
    """Positional inputs, inputs by name, and the target."""
    if isinstance(batch, Mapping):
        key = next((key for key in TARGET_KEYS if key in batch), None)
        if own_loss or key is None:
            return (), dict(batch), batch.get(key) if key else None
        return (), {name: value for name, value in batch.items() if name != key}, batch[key]
    if isinstance(batch, (tuple, list)) and len(batch) >= 2:
        inputs = batch[:-1]
        if len(inputs) == 1 and isinstance(inputs[0], Mapping):
            return (), dict(inputs[0]), batch[-1]
        return tuple(inputs), {}, batch[-1]
    raise ParamedicError(
        f"the batch is a {type(batch).__name__}",
        expected="(inputs …, target), or a dict with `labels`, `target` or `y`",
        fix="batch=(x, y)",
    )


def as_call(inputs: object) -> tuple[tuple[Any, ...], Fields]:
    """Inputs without a target: a tensor, a tuple of them, or a dict by name."""
    if isinstance(inputs, Mapping):
        return (), dict(inputs)
    return (tuple(inputs), {}) if isinstance(inputs, (tuple, list)) else ((inputs,), {})


def _own_loss(output: object) -> object:
    value = output.get("loss") if isinstance(output, Mapping) else getattr(output, "loss", None)
    if value is None:
        raise ParamedicError(
            f"the model's output, a {type(output).__name__}, has no loss",
            expected="a loss function, or an output with .loss",
            fix="assert_learns(model, F.cross_entropy, batch)",
        )
    return value
