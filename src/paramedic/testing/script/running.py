"""Run a script up to its first optimizer step, and keep what that step was made of."""

from __future__ import annotations

import contextlib
import os
import runpy
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.nn.modules import module as hooks
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_pre_hook

from paramedic.aliases import Args, Fields, Kwargs
from paramedic.errors import ParamedicError
from paramedic.launch import Target, check
from paramedic.patching import Patches
from paramedic.program.where import is_users, locals_of
from paramedic.testing.restore import random_state
from paramedic.testing.script.loops import Loop, loop_of
from paramedic.testing.script.recipes import remembered


class _Enough(BaseException):
    """The first step was seen: the script need not go on. No Exception, so that scripts do not catch it."""


@dataclass(slots=True)
class Scope:
    """A function of the user's at work, or the script's own level."""

    file: str
    function: str | None  # None: the module
    line: int
    values: dict[str, Any]


@dataclass(slots=True)
class FirstStep:
    """What the first step of a script was made of."""

    model: nn.Module
    args: Args
    kwargs: Fields
    scopes: list[Scope]  # at the model's call, innermost first
    random: tuple[Any, ...]
    state: dict[str, torch.Tensor]
    modes: dict[str, bool]
    backward: Scope | None = None
    backward_scopes: list[Scope] = field(default_factory=list)
    loss: float = float("nan")
    optimizer: object = None
    loop: Loop | None = None  # of a library, whose step this is


def first_step(target: Target) -> FirstStep:
    """The script runs as `python train.py` would, prints on stderr, and is stopped before its first update."""
    check(target)
    if target.is_module:
        raise ParamedicError(f"-m {target.name} cannot be taken apart", expected="the path of a script", fix="train.py")
    watch = _Watch()
    ended: BaseException | None = None
    try:
        with watch.installed(), remembered(), contextlib.redirect_stdout(sys.stderr):
            run_to_end(target)
    except _Enough:
        pass
    except (Exception, SystemExit) as error:
        ended = error
    if watch.found is None or watch.optimizer is None:
        reason = (
            f"it ended with {type(ended).__name__}: {ended}" if ended else "it ended without a step of an optimizer"
        )
        raise ParamedicError(
            f"{target.name} did not come to a training step: {reason}",
            expected="a script that trains",
            fix=f"python {target.name} {' '.join(target.args)}".rstrip(),
        )
    watch.found.optimizer = watch.optimizer
    return watch.found


def run_to_end(target: Target) -> None:
    """As `python train.py` would, in this process."""
    before = sys.argv, list(sys.path)
    sys.argv = [target.name, *target.args]
    sys.path.insert(0, os.path.dirname(os.path.realpath(target.name)))
    try:
        runpy.run_path(target.name, run_name="__main__")
    finally:
        sys.argv, sys.path[:] = before[0], before[1]


class _Watch:
    """Remembers the first call of a model with gradients; begins anew when a step ends without an update."""

    def __init__(self) -> None:
        self.found: FirstStep | None = None
        self.optimizer: object = None
        self._depth = 0

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        original = torch.Tensor.backward
        watch, patches = self, Patches()

        def backward(tensor: torch.Tensor, *args: object, **kwargs: object) -> Any:
            watch.backward_began(tensor)
            return original(tensor, *args, **kwargs)

        handles = [
            hooks.register_module_forward_pre_hook(self._enter),
            hooks.register_module_forward_hook(self._leave, always_call=True),
            register_optimizer_step_pre_hook(self._stepped),
        ]
        patches.set(torch.Tensor, "backward", backward)
        try:
            yield
        finally:
            patches.undo()
            for handle in handles:
                handle.remove()

    def _enter(self, module: nn.Module, args: Any) -> None:
        self._depth += 1
        is_root = self._depth == 1 and torch.is_grad_enabled() and any(p.requires_grad for p in module.parameters())
        if is_root and self.found is None:
            scopes = list(_scopes(sys._getframe(1)))
            kwargs, loop = _call_kwargs(sys._getframe(1)), loop_of(sys._getframe(1))
            holder = loop.owner if loop is not None and loop.kind == "lightning" else module
            self.found = FirstStep(
                model=module,
                args=_kept(args),
                kwargs=_kept(kwargs),
                scopes=scopes,
                random=random_state(),
                state={name: value.detach().clone() for name, value in holder.state_dict().items()},
                modes={name: part.training for name, part in holder.named_modules()},
                loop=loop,
            )

    def _leave(self, module: nn.Module, args: Args, output: object) -> None:
        self._depth = max(self._depth - 1, 0)

    def backward_began(self, loss: torch.Tensor) -> None:
        if self.found is not None and self.found.backward is None:
            scopes = list(_scopes(sys._getframe(2), values=False))
            self.found.backward = scopes[0] if scopes else None
            self.found.backward_scopes = scopes
            self.found.loss = float(loss.detach()) if loss.numel() == 1 else float("nan")

    def _stepped(self, optimizer: Optimizer, args: Args, kwargs: Kwargs) -> None:
        if self.found is not None and self.found.backward is not None:
            self.optimizer = optimizer
            raise _Enough


def _scopes(frame: FrameType | None, *, values: bool = True) -> Iterator[Scope]:
    while frame is not None:
        code = frame.f_code
        if is_users(code.co_filename) and not code.co_filename.endswith(os.sep + "paramedic"):
            is_module = code.co_name == "<module>"
            names = {**({} if is_module else frame.f_globals), **locals_of(frame)} if values else {}
            yield Scope(
                file=str(Path(code.co_filename).resolve()),
                function=None if is_module else code.co_name,
                line=frame.f_lineno,
                values={k: _kept(v) for k, v in names.items() if not k.startswith("__")},
            )
        frame = frame.f_back


def _call_kwargs(frame: FrameType | None) -> dict[str, Any]:
    """The keyword arguments of the call that a global pre-hook is told of, which gets only the others."""
    while frame is not None:
        if frame.f_code.co_name == "_call_impl" and "kwargs" in frame.f_locals:
            return dict(frame.f_locals["kwargs"])
        frame = frame.f_back
    return {}


def _kept(value: Any) -> Any:
    """Tensors are copied: the script may change them in place."""
    if isinstance(value, torch.Tensor) and not isinstance(value, nn.Parameter):
        return value.detach().clone() if value.numel() < 50_000_000 else value
    if type(value) is dict:
        return {key: _kept(item) for key, item in value.items()} if len(value) < 1000 else value
    if type(value) in (list, tuple) and len(value) < 1000:
        return type(value)(_kept(item) for item in value)
    return value
