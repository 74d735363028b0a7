"""A model whose weights lie on an accelerator can be asked in a forked process, too: on the host, with copies of them.

A fork cannot use the accelerator that its parent uses. So what it needs is copied to the host before, put in place
there, and whatever would go to an accelerator stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from paramedic.patching import Patches

MOST_BYTES = 1 << 30
_ACCELERATOR = re.compile(r"cuda(:\d+)?")


class TooLarge(Exception):
    """More than may be copied."""


class Copies:
    """What modules and values hold on accelerators, copied to the host."""

    def __init__(self, modules: list[nn.Module]) -> None:
        self._copied: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}  # by id: the tensor, kept alive, and its copy
        self._room = MOST_BYTES
        self._modules = modules
        for module in modules:
            for holder in _holders(module):
                for value in list(holder.values()):
                    self.of(value)

    def of(self, value: Any) -> Any:
        """The value with copies instead of an accelerator's tensors, in containers, too."""
        if isinstance(value, torch.Tensor):
            return self._copy(value) if value.device.type == "cuda" else value
        if type(value) in (list, tuple):
            return type(value)(self.of(item) for item in value)
        if type(value) is dict:
            return {key: self.of(item) for key, item in value.items()}
        return value

    def _copy(self, tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) not in self._copied:
            self._room -= tensor.numel() * tensor.element_size()
            if self._room < 0:
                raise TooLarge
            copy = tensor.detach().cpu()
            if isinstance(tensor, nn.Parameter):
                copy = nn.Parameter(copy, requires_grad=tensor.requires_grad)
            self._copied[id(tensor)] = (tensor, copy)
        return self._copied[id(tensor)][1]

    def of_used(self, names: Iterable[str], variables: dict[str, object]) -> None:
        """Put copies in the place of those of the variables that have these names."""
        variables.update({name: self.of(variables[name]) for name in names if name in variables})

    def put_in_place(self) -> None:
        """In the fork: the modules use the copies from now on."""
        for module in self._modules:
            for holder in _holders(module):
                holder.update({name: self.of(value) for name, value in list(holder.items()) if _may_hold(value)})


def copies_of(modules: list[nn.Module]) -> Copies | None:
    """Where an accelerator is in use; None where no copies are needed. Raises TooLarge."""
    return Copies(modules) if torch.cuda.is_initialized() else None


def _holders(module: nn.Module) -> Iterator[dict[str, object]]:
    """Where a module keeps tensors, registered or not."""
    yield module._parameters
    yield module._buffers
    yield module.__dict__


def _may_hold(value: Any) -> bool:
    return isinstance(value, torch.Tensor) or (type(value) in (list, tuple) and len(value) > 0)


class _Stays(TorchFunctionMode):
    """What would be sent to an accelerator, or made there, stays on the host."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.Tensor.cuda:
            return args[0]
        return func(*map(_on_host, args), **{name: _on_host(value) for name, value in (kwargs or {}).items()})


def _on_host(value: object) -> Any:
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device("cpu")
    return "cpu" if type(value) is str and _ACCELERATOR.fullmatch(value) else value


def staying(question: Callable[[], object]) -> object:
    """In the fork: the answer to a question that may speak of accelerators."""
    torch.set_default_device("cpu")
    # Autocast wants to know, and must not ask the accelerator.
    Patches().stand_in(torch.cuda, "is_bf16_supported", lambda *_, **__: True)
    with torch._C._EnableTorchFunction(), _Stays():
        return question()
