"""Tied weights: one tensor under two names, until a load, an assignment or a conversion parts them."""

from __future__ import annotations

import sys
import weakref
from typing import NamedTuple

import torch
from torch import nn

from paramedic.aliases import Function
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.facts import address, readable
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program import anatomy
from paramedic.program.where import user_site
from paramedic.record.facts import Untied
from paramedic.record.writer import Site

CONVERSIONS = ("to", "half", "bfloat16", "float", "double", "cuda", "cpu")
MOST = 100


class Slot(NamedTuple):
    """A parameter's place, which stays when another tensor is put there."""

    owner: weakref.ref[nn.Module]
    name: str

    def now(self) -> nn.Parameter | None:
        owner = self.owner()
        return None if owner is None else owner._parameters.get(self.name)


class Parted(NamedTuple):
    """Two slots that held the same weights."""

    first: Slot
    second: Slot
    how: str  # loaded, assigned, converted or replaced
    site: Site


@probe("ties", states=[Untied])
class Ties:
    """Remembers which slots a parameter was put into; tells of those that are trained apart afterwards."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.held = (
            watcher.known.loop.books.owners.__contains__
        )  # whether an optimizer holds the parameter with this id
        self._slots: dict[int, list[Slot]] = {}
        self._alive: dict[int, weakref.ref[nn.Parameter]] = {}  # forgets the slots of parameters that are gone
        self._parted: list[Parted] = []
        self._replaced: list[Parted] = []  # one of the two modules was replaced; only if both are is it worth a word

    def install(self) -> None:
        hooks = torch.nn.modules.module
        for register, listener in (
            (hooks.register_module_parameter_registration_hook, self._registered),
            (hooks.register_module_module_registration_hook, self._exchanged),
        ):
            handle = register(lambda *told, listener=listener: self.watcher.ask("ties", listener, *told))
            self.watcher.patches.on_undo(handle.remove)
        for name in CONVERSIONS:
            self.watcher.patches.wrap(nn.Module, name, self._watched_conversion)

    def _registered(self, module: nn.Module, name: str, parameter: nn.Parameter | None) -> None:
        before = module._parameters.get(name)
        if before is parameter:
            return
        slot = Slot(weakref.ref(module), name)
        if before is not None and parameter is not None:
            for other in self._slots.get(id(before), ()):
                if other.owner() is not module and other.now() is before:
                    self._part(slot, other, parameter, before)
        if parameter is not None:
            self._remember(slot, parameter)

    def _exchanged(self, parent: nn.Module, name: str, module: nn.Module | None) -> None:
        """A module takes another's place, as when a vocabulary grows: its weights may have been tied."""
        before = parent._modules.get(name)
        if before is None or module is None or before is module or not before._parameters:
            return
        for half in [half for half in self._replaced if half.second.owner() is before]:
            self._replaced.remove(half)
            second = Slot(weakref.ref(module), half.second.name)
            self._parted.append(Parted(half.first, second, "replaced", half.site))
        for own, parameter in before._parameters.items():
            for other in self._slots.get(id(parameter), ()) if own in module._parameters else ():
                if other.owner() not in (None, before) and other.now() is parameter and len(self._replaced) < MOST:
                    self._replaced.append(Parted(Slot(weakref.ref(module), own), other, "replaced", user_site()))

    def _part(self, slot: Slot, other: Slot, parameter: nn.Parameter, before: nn.Parameter) -> None:
        loaded = _loading()
        if not loaded and parameter.shape == before.shape and readable(parameter) and torch.equal(parameter, before):
            return  # an equal copy put there by hand: parted on purpose
        if len(self._parted) < MOST:
            self._parted.append(Parted(slot, other, "loaded" if loaded else "assigned", user_site()))

    def _remember(self, slot: Slot, parameter: nn.Parameter) -> None:
        identity = id(parameter)

        def forget(_: object) -> None:
            self._slots.pop(identity, None)
            self._alive.pop(identity, None)

        if identity not in self._alive:
            self._alive[identity] = weakref.ref(parameter, forget)
        self._slots.setdefault(identity, []).append(slot)

    def _watched_conversion(self, original: Function) -> Function:
        def convert(module: nn.Module, *args: object, **kwargs: object) -> object:
            before = self.watcher.ask("ties", _shared, module)
            result = original(module, *args, **kwargs)
            if before:
                self.watcher.ask("ties", self._converted, before)
            return result

        return convert

    def _converted(self, pairs: list[tuple[Slot, Slot]]) -> None:
        for first, second in pairs:
            if _apart(first, second) and len(self._parted) < MOST:
                self._parted.append(Parted(first, second, "converted", user_site()))

    @on(moments.step_taken)
    def _look(self) -> None:
        """After a step: of those that were parted, which does an optimizer train apart?"""
        waiting, self._parted = self._parted, []
        for parted in waiting:
            first, second = parted.first.now(), parted.second.now()
            if first is None or second is None or not _apart(parted.first, parted.second):
                continue
            if parted.how == "replaced" and first.shape != second.shape:
                continue  # a head of its own
            if not (self.held(id(first)) and self.held(id(second))):
                continue
            names = [self.watcher.registry.parameter_name(p) for p in (first, second)]
            data = Untied(names=names, how=parted.how, numel=first.numel())
            self.watcher.state(data, site=parted.site, key=(parted.site, *names))


def _apart(first: Slot, second: Slot) -> bool:
    a, b = first.now(), second.now()
    return a is not None and b is not None and a is not b and address(a) != address(b)


def _shared(module: nn.Module) -> list[tuple[Slot, Slot]]:
    """Different parameters over the same memory: tied by their data only."""
    seen: dict[tuple[int, torch.Size], tuple[Slot, nn.Parameter]] = {}
    pairs = []
    for owner in anatomy.modules(module):
        for name, parameter in owner._parameters.items():
            if parameter is None or not parameter.numel() or not readable(parameter):
                continue
            slot = Slot(weakref.ref(owner), name)
            other, known = seen.setdefault((address(parameter), parameter.shape), (slot, parameter))
            if known is not parameter:
                pairs.append((other, slot))
    return pairs


def _loading() -> bool:
    """Whether torch is putting a state dict's tensors in place."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "_load_from_state_dict":
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
