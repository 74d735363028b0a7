"""The parts of a model, read from where torch keeps them: its `parameters()` may be the user's own code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from paramedic.program.untouched import attributes

WRAPPERS = ("DistributedDataParallel", "DataParallel", "OptimizedModule", "FullyShardedDataParallel")


def named_modules(root: nn.Module, *, again: bool = False) -> Iterator[tuple[str, nn.Module]]:
    """The model and all modules in it, by path, each once; with `again` by each of its paths."""
    seen: set[int] = set()
    waiting: list[tuple[str, nn.Module]] = [("", root)]
    while waiting:
        path, module = waiting.pop()
        if id(module) in seen and not again:
            continue
        seen.add(id(module))
        yield path, module
        inner = [(f"{path}.{name}" if path else name, child) for name, child in _kept(module, "_modules")]
        waiting += reversed(inner)


def full_name(root_name: str, inner: str, root: nn.Module) -> str:
    """A part of a model by the model's name in the script; what wraps the model is left out."""
    if type(root).__name__ in WRAPPERS:
        inner = inner.removeprefix("_orig_mod").removeprefix("module").lstrip(".")
    return f"{root_name}.{inner}" if inner else root_name


def modules(root: nn.Module) -> Iterator[nn.Module]:
    return (module for _, module in named_modules(root))


def named_parameters(root: nn.Module) -> Iterator[tuple[str, nn.Parameter]]:
    return _named(root, "_parameters")


def parameters(root: nn.Module) -> Iterator[nn.Parameter]:
    return (parameter for _, parameter in _named(root, "_parameters"))


def buffers(root: nn.Module) -> Iterator[torch.Tensor]:
    return (buffer for _, buffer in _named(root, "_buffers"))


def state(root: nn.Module) -> dict[str, torch.Tensor]:
    """What torch's own `state_dict()` would give, by the same names."""
    found: dict[str, torch.Tensor] = {}
    for path, module in named_modules(root, again=True):
        left_out = attributes(module).get("_non_persistent_buffers_set", ())
        tensors = [*_kept(module, "_parameters"), *(b for b in _kept(module, "_buffers") if b[0] not in left_out)]
        known = [(name, tensor) for name, tensor in tensors if not is_lazy(tensor)]
        found |= {f"{path}.{name}" if path else name: tensor.detach() for name, tensor in known}
    return found


def _named(root: nn.Module, kind: str) -> Iterator[tuple[str, object]]:
    seen: set[int] = set()
    for path, module in named_modules(root):
        for name, tensor in _kept(module, kind):
            if id(tensor) not in seen:
                seen.add(id(tensor))
                yield (f"{path}.{name}" if path else name), tensor


def _kept(module: nn.Module, kind: str) -> list[tuple[str, Any]]:
    held: Any = attributes(module).get(kind)
    if not isinstance(held, dict):  # a scripted module keeps something of torch's own there
        held = dict(held.items()) if type(held).__module__.startswith("torch.") else {}
    return [(name, value) for name, value in dict.items(held) if value is not None]
