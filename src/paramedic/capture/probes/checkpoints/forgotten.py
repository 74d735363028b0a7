"""Checkpoints of which a training goes on: was the optimizer's state left behind in the file?"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Mapping
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.optim import Optimizer

from paramedic.aliases import Function
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.facts import address
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program import anatomy
from paramedic.program.tensors import tensors_in
from paramedic.program.untouched import attributes
from paramedic.program.where import is_users, locals_of
from paramedic.record import facts
from paramedic.record.writer import Site

MOST_FILES, MOST_TENSORS, MOST_FRAMES = 4, 20_000, 30
MOST_LOOKS = 2_000  # at a counter that may go on
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


@probe("forgotten", states=[facts.Forgotten])
class Forgotten:
    """Follows a file's weights into a model, and looks at that model's optimizer when it takes its first step."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.loop = watcher.known.loop
        self._files: list[Checkpoint] = []
        self._taken: list[Taken] = []
        self._suspects: list[tuple[Taken, tuple[str, int, str], facts.Forgotten]] = []
        self._looks = 0

    def install(self) -> None:
        def watched(original: Function) -> Function:
            def load(*args: object, **kwargs: object) -> Any:
                result = original(*args, **kwargs)
                if type(result) is dict:
                    self.watcher.ask("forgotten", self._read, result)
                return result

            return load

        self.watcher.patches.wrap(torch, "load", watched)

    @on(moments.step_taken)
    def _stepped(self) -> None:
        if self._suspects:
            self._confirm()
        if self._taken:
            self._look()

    def _read(self, content: dict[Any, Any]) -> None:
        states = [value for value in content.values() if _is_optimizer(value)]
        counters = {k: v for k, v in content.items() if type(k) is str and _word(k) and type(v) is int and v > 0}
        if len(states) != 1 or not counters:
            return
        rest = [value for value in content.values() if not _is_optimizer(value)]
        found = {address(t) for _, t in list(tensors_in(rest))[:MOST_TENSORS] if t.numel()}
        self._files = [*self._files[-MOST_FILES + 1 :], Checkpoint(_shapes(states[0]), counters, found)]

    @on(moments.model_loaded)
    def given(self, model: nn.Module, state: Mapping[str, object], path: str, site: Site) -> None:
        """A model has loaded a state dict: out of one of the files?"""
        for file in self._files:
            tensors = [value for value in state.values() if isinstance(value, torch.Tensor) and value.numel()]
            if tensors and all(address(value) in file.addresses for value in tensors):
                self._taken.append(Taken(file, weakref.ref(model), path, site))

    @on(moments.optimizer_loaded)
    def restored(self, optimizer: object) -> None:
        """An optimizer has loaded a state, so it was not forgotten."""
        self._files.clear()
        self._taken.clear()

    def _look(self) -> None:
        waiting, self._taken = self._taken, []
        for taken in waiting:
            model = taken.model()
            first = next(anatomy.parameters(model), None) if model is not None else None
            owners = [o for o in self.loop.books.owners.of(id(first)) if o in self.loop.accounts]
            account = self.loop.accounts[owners[-1]] if owners else None
            if first is None or account is None or not account.steps:
                self._taken += [taken] if first is not None else []  # its first step is still to come
            elif account.steps == 1 and account.empty:
                self._suspect(taken, owners[-1])

    def _suspect(self, taken: Taken, optimizer: Optimizer) -> None:
        """Its optimizer began without a state, although the file has one that fits. Does it count on?"""
        held = [list(p.shape) for group in optimizer.param_groups for p in group["params"]]
        saved = taken.checkpoint.shapes
        fits = len(held) == len(saved) and all(s is None or s == h for s, h in zip(saved, held, strict=True))
        counter = _counted(taken.checkpoint.counters) if fits else None
        if counter is not None:
            fact = facts.Forgotten(class_=type(optimizer).__name__, counter=counter, tensors=len(saved))
            self._suspects.append((taken, counter, fact))

    def _confirm(self) -> None:
        """Only what goes on counting is a counter: a variable that was left over stays as it is."""
        self._looks += 1
        for suspect in list(self._suspects) if self._looks <= MOST_LOOKS else ():
            taken, (name, value, _), fact = suspect
            now = next((v for n, v in _nearest(name) if n == name), None)
            if now != value:
                self._suspects.remove(suspect)
            if now is not None and now > value:
                self.watcher.state(fact, site=taken.site, module=taken.path, phase="setup")


def _is_optimizer(value: object) -> bool:
    return type(value) is dict and bool(value.get("state")) and isinstance(value.get("param_groups"), list)


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


def _counted(counters: dict[str, int]) -> tuple[str, int, str] | None:
    """The loop's variable that stands where a counter of the file stopped: its name, its value, the counter."""
    for key, saved in counters.items():
        for name, value in _nearest(key):
            if value in (saved, saved + 1):
                return name, value, key
    return None


def _nearest(wanted: str) -> list[tuple[str, int]]:
    """The numbers that are named after the same counter, in the innermost of the user's functions that has any."""
    word = _word(wanted)
    frame: FrameType | None = sys._getframe(1)
    for _ in range(MOST_FRAMES):
        if frame is None:
            break
        if is_users(frame.f_code.co_filename):
            names = locals_of(frame)
            own = attributes(names.get("self"))
            for space in (names, own):
                found = [(name, value) for name, value in space.items() if type(value) is int and _word(name) == word]
                if found:
                    return found
        frame = frame.f_back
    return []
