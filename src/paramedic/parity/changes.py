"""A change that a side can be tried with: a setting, a parameter, what goes in or comes out, an operation."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from paramedic.aliases import Args, Kwargs
from paramedic.parity.trace import Tensors, tensors_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """`words` complete the sentence "with …, the models agree"."""

    words: str
    settings: tuple[tuple[str, Any], ...] = ()
    parameters: tuple[tuple[str, torch.Tensor], ...] = ()
    on_input: Callable[[Args, Kwargs], tuple[Args, Kwargs]] | None = None
    on_output: Callable[[Tensors, object], object] | None = None  # gets the tensors that went in, and what came out
    operation: Callable[[Args, Kwargs], Any] | None = None

    @property
    def is_op(self) -> bool:
        return self.operation is not None

    def as_operation(self, args: Args, kwargs: Kwargs) -> Any:
        if self.operation is None:
            raise TypeError("this change is not one of an operation")
        return self.operation(args, kwargs)

    @contextlib.contextmanager
    def on_module(self, module: nn.Module, dtype: torch.dtype) -> Iterator[None]:
        """Applied while the block runs."""
        with contextlib.ExitStack() as stack:
            for name, value in self.settings:
                stack.enter_context(_attribute(module, name, value))
            for name, tensor in self.parameters:
                stack.enter_context(_content(_tensor(module, name), tensor, dtype))
            if self.on_input is not None:
                change = self.on_input
                handle = module.register_forward_pre_hook(
                    lambda _, args, kwargs: change(args, kwargs), with_kwargs=True
                )
                stack.callback(handle.remove)
            if self.on_output is not None:
                after = self.on_output
                handle = module.register_forward_hook(
                    lambda _, args, kwargs, output: after(tuple(tensors_in((args, kwargs))), output),
                    with_kwargs=True,
                    prepend=True,
                )
                stack.callback(handle.remove)
            yield


@contextlib.contextmanager
def _attribute(module: nn.Module, name: str, value: object) -> Iterator[None]:
    before = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, before)


def _tensor(module: nn.Module, name: str) -> torch.Tensor:
    owner, _, last = name.rpartition(".")
    found = getattr(module.get_submodule(owner), last)
    assert isinstance(found, torch.Tensor)
    return found


@contextlib.contextmanager
def _content(parameter: torch.Tensor, value: torch.Tensor, dtype: torch.dtype) -> Iterator[None]:
    before = parameter.detach().clone()
    with torch.no_grad():
        parameter.copy_(value.to(parameter.dtype).reshape(parameter.shape))
    try:
        yield
    finally:
        with torch.no_grad():
            parameter.copy_(before)
