"""State dicts that share memory with the live model: where they were taken, and whether the model moved on since."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import torch
from torch import nn

from paramedic.aliases import Function
from paramedic.capture.facts import address
from paramedic.capture.watcher import Watcher
from paramedic.program.anatomy import state as read_state
from paramedic.program.untouched import Notes, entries
from paramedic.program.where import user_site
from paramedic.record.facts import LateSave, Snapshot
from paramedic.record.writer import Site

REMEMBERED = 3  # tensors of each state dict; one is enough to know it by


class Taken(NamedTuple):
    """One tensor of a state dict. It shares memory, and the count of writes to it, with the model."""

    ref: weakref.ref[torch.Tensor]
    site: Site
    step: int
    version: int


class Latest(NamedTuple):
    """The last call of a model's state_dict(), and the count of writes to a few of its tensors then."""

    site: Site
    step: int
    versions: dict[str, int]


class Snapshots:
    """Watches state_dict() and torch.save."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._taken: dict[int, Taken] = {}
        self._latest: Notes[Latest] = Notes()  # by model
        self._depth = 0

    def install(self) -> None:
        watcher = self.watcher

        def watched_state(original: Function) -> Function:
            def state_dict(module: nn.Module, *args: object, **kwargs: object) -> object:
                self._depth += 1
                try:
                    state = original(module, *args, **kwargs)
                finally:
                    self._depth -= 1
                if self._depth == 0:
                    watcher.ask("checkpoints", self._took, module, state)
                return state

            return state_dict

        def watched_save(original: Function) -> Function:
            def save(found: object, *args: object, **kwargs: object) -> object:
                watcher.ask("checkpoints", self._saved, found)
                return original(found, *args, **kwargs)

            return save

        watcher.patches.wrap(nn.Module, "state_dict", watched_state)
        watcher.patches.wrap(torch, "save", watched_save)

    def _took(self, module: nn.Module, state: Mapping[str, object]) -> None:
        site, step = user_site(), self.watcher.step
        tensors = {k: v for k, v in state.items() if isinstance(v, torch.Tensor) and not v.is_inference()}
        some = dict(list(tensors.items())[:REMEMBERED])
        self._latest[module] = Latest(site, step, {key: tensor._version for key, tensor in some.items()})
        for tensor in some.values():
            identity = id(tensor)
            reference = weakref.ref(tensor, functools.partial(self._forget, identity))
            self._taken[identity] = Taken(reference, site, step, tensor._version)

    def _forget(self, identity: int, _: object) -> None:
        self._taken.pop(identity, None)

    def _of(self, value: object) -> Taken | None:
        taken = self._taken.get(id(value))
        return taken if taken is not None and taken.ref() is value else None

    def behind(self, module: nn.Module, state: object) -> Snapshot | None:
        """When and where the state that is about to be loaded was taken, if it is the module's own memory."""
        own = read_state(module)
        shared = [value for key, value in entries(state) if _same_memory(own.get(key), value)]
        if not shared or len(shared) < len(own):
            return None
        taken = next((found for value in shared if (found := self._of(value)) is not None), None)
        if taken is None:
            return self._made_of(module, own, shared)
        return Snapshot(taken_at=taken.site, taken_step=taken.step, moved=shared[0]._version > taken.version)

    def _made_of(
        self, module: nn.Module, own: Mapping[str, torch.Tensor], shared: list[torch.Tensor]
    ) -> Snapshot | None:
        """For other tensors on the same memory, as detach() and cpu() give: they were taken when it was last called, or
        earlier. Parameters themselves stand for the model as it is."""
        latest: Latest | None = self._latest.get(module)
        if latest is None or any(isinstance(value, nn.Parameter) for value in shared):
            return None
        moved = any(own[key]._version > version for key, version in latest.versions.items() if key in own)
        return Snapshot(taken_at=latest.site, taken_step=latest.step, moved=moved, derived=True)

    def _saved(self, found: object) -> None:
        """Saved long after it was taken: what is written is the model as it is now."""
        for value in _tensors(found, 0):
            taken = self._of(value)
            if taken is not None and taken.step < self.watcher.step and value._version > taken.version:
                data = LateSave(taken_at=taken.site, taken_step=taken.step)
                self.watcher.state(data, site=user_site(), phase="setup", key=(user_site(), taken.site))
                return


def _same_memory(mine: object, given: object) -> bool:
    if not (isinstance(mine, torch.Tensor) and isinstance(given, torch.Tensor)):
        return False
    return mine.shape == given.shape and (mine.numel() == 0 or address(mine) == address(given))


def _tensors(value: object, depth: int) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict) and depth < 3:
        for item in list(dict.values(value))[:1000]:
            yield from _tensors(item, depth + 1)
