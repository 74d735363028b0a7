"""Hooks around the calls of all modules, in every version of torch."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence

import torch
from torch.utils.hooks import RemovableHandle

from paramedic.aliases import Args
from paramedic.program.where import locals_of

_hooks = torch.nn.modules.module
_GIVES_KEYWORDS = "with_kwargs" in inspect.signature(_hooks.register_module_forward_hook).parameters


def around_calls(enter: Callable[..., None], leave: Callable[..., None]) -> list[RemovableHandle]:
    """`enter(module, args)` before each call, `leave(module, args, kwargs, output)` after it, even when it fails."""
    before = _hooks.register_module_forward_pre_hook(enter)
    if _GIVES_KEYWORDS:
        return [before, _hooks.register_module_forward_hook(leave, with_kwargs=True, always_call=True)]

    def leave_without(module: torch.nn.Module, args: Args, output: object) -> None:
        # torch 2.5 keeps the keyword arguments to itself: they are a variable of the function that calls this.
        leave(module, args, locals_of(sys._getframe(1)).get("kwargs", {}), output)

    return [before, _hooks.register_module_forward_hook(leave_without, always_call=True)]


def remove(handles: Sequence[RemovableHandle]) -> None:
    for hook in handles:
        hook.remove()
        # torch forgets to take these marks away, and a compiled model would warn of hooks for ever.
        getattr(_hooks, "_global_forward_hooks_with_kwargs", {}).pop(hook.id, None)
        _hooks._global_forward_hooks_always_called.pop(hook.id, None)
