"""Checkpoints of which a training goes on: was the optimizer's state left behind in the file?"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch import nn

from paramedic.capture.facts import address, tensors_in
from paramedic.capture.probes.loop import Loop
from paramedic.capture.watcher import Watcher
from paramedic.capture.where import is_users, locals_of
from paramedic.record.writer import Site

MOST_FILES, MOST_TENSORS, MOST_FRAMES = 4, 20_000, 30
COUNTERS = ("epoch", "step", "iter")  # in the names of numbers that say how far a training has come


class Checkpoint(NamedTuple):
    """What a file held: nothing of it is kept alive."""

    shapes: list[list[int] | None]  # of the optimizer's state, parameter by parameter
    counters: dict[str, int]
    addresses: set[int]  # of all other tensors


class Taken(NamedTuple):
    """A model that got its weights from such a file."""

    checkpoint: Checkpoint
    model: weakref.ref[nn.Module]
    path: str
    site: Site


class Forgotten:
    """Follows a file's weights into a model, and looks at that model's optimizer when it takes its first step."""

    def __init__(self, watcher: Watcher, loop: Loop) -> None:
        self.watcher = watcher
        self.loop = loop
        self._files: list[Checkpoint] = []
        self._taken: list[Taken] = []

    def install(self) -> None:
        def watched(original: Any) -> Any:
            def load(*args: Any, **kwargs: Any) -> Any:
                result = original(*args, **kwargs)
                if type(result) is dict:
                    self.watcher.ask("forgotten", self._read, result)
                return result

            return load

        self.watcher.patches.wrap(torch, "load", watched)
        self.watcher.on_step.append(("forgotten", lambda: self._look() if self._taken else None))

    def _read(self, content: dict[Any, Any]) -> None:
        states = [value for value in content.values() if _is_optimizer(value)]
        counters = {str(k): v for k, v in content.items() if _word(str(k)) and type(v) is int and v > 0}
        if len(states) != 1 or not counters:
            return
        rest = [value for value in content.values() if not _is_optimizer(value)]
        found = {address(t) for _, t in list(tensors_in(rest))[:MOST_TENSORS] if t.numel()}
        self._files = [*self._files[-MOST_FILES + 1 :], Checkpoint(_shapes(states[0]), counters, found)]

    def given(self, model: nn.Module, state: Any, path: str, site: Site) -> None:
        """A model has loaded a state dict: out of one of the files?"""
        for file in self._files:
            tensors = [value for value in state.values() if isinstance(value, torch.Tensor) and value.numel()]
            if tensors and all(address(value) in file.addresses for value in tensors):
                self._taken.append(Taken(file, weakref.ref(model), path, site))

    def restored(self, optimizer: Any) -> None:
        """An optimizer has loaded a state, so it was not forgotten."""
        self._files.clear()
        self._taken.clear()

    def _look(self) -> None:
        waiting, self._taken = self._taken, []
        for taken in waiting:
            model = taken.model()
            first = next(model.parameters(), None) if model is not None else None
            if first is None:
                continue
            owners = [o for o in self.loop.owners.of(id(first)) if o in self.loop.accounts]
            if not owners or not self.loop.accounts[owners[-1]].steps:
                self._taken.append(taken)  # its first step is still to come
            elif self.loop.accounts[owners[-1]].steps == 1 and self.loop.accounts[owners[-1]].empty:
                self._tell(taken, owners[-1])

    def _tell(self, taken: Taken, optimizer: Any) -> None:
        held = [list(p.shape) for group in optimizer.param_groups for p in group["params"]]
        saved = taken.checkpoint.shapes
        fits = len(held) == len(saved) and all(s is None or s == h for s, h in zip(saved, held, strict=True))
        counter = _going_on(taken.checkpoint.counters)
        if fits and counter is not None:
            data = {"class": type(optimizer).__name__, "counter": counter, "tensors": len(saved)}
            self.watcher.emit("forgotten", site=taken.site, module=taken.path, phase="setup", data=data)


def _is_optimizer(value: Any) -> bool:
    return isinstance(value, dict) and bool(value.get("state")) and isinstance(value.get("param_groups"), list)


def _shapes(state: dict[str, Any]) -> list[list[int] | None]:
    """Per parameter the shape of what is kept for it; None where that is not known."""
    numbers = [number for group in state["param_groups"] for number in group["params"]]
    found = []
    for number in numbers:
        kept = [t for t in state["state"].get(number, {}).values() if isinstance(t, torch.Tensor) and t.dim() > 0]
        found.append(list(kept[0].shape) if kept else None)
    return found


def _word(name: str) -> str | None:
    return next((word for word in COUNTERS if word in name.lower()), None)


def _going_on(counters: dict[str, int]) -> list[Any] | None:
    """A variable of the loop that goes on where a counter of the file stopped: its name, its value, the counter."""
    for name, value in _variables():
        for key, saved in counters.items():
            if _word(key) == _word(name) and value in (saved, saved + 1):
                return [name, value, key]
    return None


def _variables() -> Iterator[tuple[str, int]]:
    frame: FrameType | None = sys._getframe(1)
    for _ in range(MOST_FRAMES):
        if frame is None:
            return
        if is_users(frame.f_code.co_filename):
            names = locals_of(frame)
            own = getattr(names.get("self"), "__dict__", {})
            yield from ((n, v) for n, v in [*names.items(), *own.items()] if type(v) is int and _word(n))
        frame = frame.f_back
