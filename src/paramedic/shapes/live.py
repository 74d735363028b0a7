"""Shapes of chosen modules at every step, on stderr, while a script runs."""

from __future__ import annotations

import contextlib
import fnmatch
from collections.abc import Iterator

import torch
from torch.nn.modules import module as hooks
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook

from paramedic import voice
from paramedic.aliases import Args, Kwargs
from paramedic.program.tensors import tensors_in


@contextlib.contextmanager
def live(pattern: str) -> Iterator[None]:
    """Tell the shapes of modules whose path or class matches, once per call."""
    teller = _Teller(pattern)
    handles = [
        hooks.register_module_forward_pre_hook(teller.enter),
        hooks.register_module_forward_hook(teller.leave, always_call=True),
        register_optimizer_step_post_hook(teller.stepped),
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


class _Teller:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.step = 0
        self._stack: list[object] = []
        self._names: dict[int, dict[int, str]] = {}  # by root: the paths of its modules

    def enter(self, module: torch.nn.Module, args: Args) -> None:
        self._stack.append(module)

    def leave(self, module: torch.nn.Module, args: Args, output: object) -> None:
        root = self._stack[0] if self._stack else module
        if self._stack:
            self._stack.pop()
        path, kind = self._path(root, module), type(module).__name__
        if fnmatch.fnmatch(path, self.pattern) or fnmatch.fnmatch(kind, self.pattern):
            voice.say(f"step {self.step}  {path or '(model)'} {kind}  {_shapes(args)} → {_shapes(output)}")

    def stepped(self, optimizer: Optimizer, args: Args, kwargs: Kwargs) -> None:
        self.step += 1

    def _path(self, root: torch.nn.Module, module: torch.nn.Module) -> str:
        names = self._names.setdefault(id(root), {id(m): path for path, m in root.named_modules()})
        return names.get(id(module), type(module).__name__)


def _shapes(value: object) -> str:
    return " ".join(str(tuple(tensor.shape)) for _, tensor in tensors_in(value)) or "–"
