"""Replace functions of torch, and put them back."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

_MISSING = object()


class Patches:
    """All replacements of one watcher, undone in reverse order."""

    def __init__(self) -> None:
        self._done: list[tuple[Any, str, Any, Any]] = []  # owner, name, what was there, what is there now
        self._undo: list[Callable[[], object]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        # `vars` and not getattr: an inherited method must be uncovered again, not copied down.
        self._done.append((owner, name, vars(owner).get(name, _MISSING), value))
        setattr(owner, name, value)

    def take_back(self, owner: Any, name: str) -> None:
        for patch in [patch for patch in self._done if patch[0] is owner and patch[1] == name]:
            self._done.remove(patch)
            _restore(*patch[:3])

    def wrap(self, owner: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        """Replace a function by `make(original)`; inside a graph being compiled the original is used."""
        original = getattr(owner, name)
        watched = make(original)

        @functools.wraps(original)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if torch.compiler.is_compiling():
                return original(*args, **kwargs)
            return watched(*args, **kwargs)

        self.set(owner, name, wrapper)

    def on_undo(self, undo: Callable[[], object]) -> None:
        self._undo.append(undo)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """The untouched torch, for code that reads its source: torch.jit.script."""
        for owner, name, before, _ in reversed(self._done):
            _restore(owner, name, before)
        try:
            yield
        finally:
            for owner, name, _, after in self._done:
                setattr(owner, name, after)

    def undo(self) -> None:
        for owner, name, before, _ in reversed(self._done):
            _restore(owner, name, before)
        for undo in reversed(self._undo):
            undo()
        self._done, self._undo = [], []


def _restore(owner: Any, name: str, before: Any) -> None:
    if before is _MISSING:
        delattr(owner, name)
    else:
        setattr(owner, name, before)
