"""In-place operations on tensors that a backward pass may still need."""

from __future__ import annotations

import contextlib
import sys
from collections import deque
from typing import Any

import torch

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on, on_call_of
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.errors import message_of
from paramedic.program.where import frame_site, is_users
from paramedic.record import facts

T = torch.Tensor
_NAMES = (
    "add",
    "sub",
    "mul",
    "div",
    "relu",
    "clamp",
    "sigmoid",
    "tanh",
    "exp",
    "sqrt",
    "masked_fill",
    "copy",
    "fill",
    "zero",
)
_IN_PLACE = [getattr(T, f"{name}_") for name in _NAMES if hasattr(T, f"{name}_")]
_IN_PLACE += [T.__iadd__, T.__isub__, T.__imul__, T.__itruediv__, T.__setitem__]
MOST_REMEMBERED = 256


@probe("in-place", states=[facts.InPlace])
class InPlace:
    """Remembers the last ones; they are only told when a backward pass fails because of one."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._last: deque[tuple[str, list[int], Any]] = deque(maxlen=MOST_REMEMBERED)

    @on_call_of(*_IN_PLACE)
    def _overwrote(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        with contextlib.suppress(RuntimeError):  # a view made under no_grad may not even be asked for its history
            if isinstance(args[0], T) and args[0].grad_fn is not None:
                self._remember(func, args[0])

    def _remember(self, func: Function, tensor: torch.Tensor) -> None:
        caller = sys._getframe(4)
        if is_users(caller.f_code.co_filename):
            base = tensor._base if tensor._base is not None else tensor
            self._last.append((func.__name__, list(base.shape), frame_site(caller)))

    @on(moments.run_failed)
    def tell(self, error: BaseException) -> None:
        if "modified by an inplace operation" in message_of(error):
            for name, shape, site in self._last:
                self.watcher.state(facts.InPlace(function=name, shape=shape), site=site)
