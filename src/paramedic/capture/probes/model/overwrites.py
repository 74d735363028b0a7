"""Dropout probabilities that a forward pass overwrites on its own module."""

from __future__ import annotations

import dis
import weakref

from torch import nn

from paramedic.aliases import Args, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import is_users, shown_path
from paramedic.record.facts import OverwrittenProbability
from paramedic.record.writer import Site


@probe("overwrites", states=[OverwrittenProbability])
class Overwrites:
    """Compares such attributes after calls in train mode with those after calls in eval mode."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._stored: dict[type, dict[str, Site]] = {}  # attributes that a class's forward assigns
        self._trained: weakref.WeakKeyDictionary[nn.Module, dict[str, float]] = weakref.WeakKeyDictionary()
        self._suspects: weakref.WeakKeyDictionary[nn.Module, dict[str, float]] = weakref.WeakKeyDictionary()

    @on(moments.module_called)
    def called(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        module = call.module
        kind = type(module)
        stored = self._stored.get(kind)
        if stored is None:
            stored = self._stored[kind] = _stores(kind)
        if not stored:
            return
        now = {name: value for name in stored if isinstance(value := module.__dict__.get(name), (int, float))}
        before = self._trained.get(module)
        if not call.training:
            if before is not None and now != before:
                self._suspects.setdefault(module, now)
            return
        suspect = self._suspects.get(module)
        for name, value in now.items() if suspect is not None and before is not None else ():
            if before and suspect and value == suspect[name] != before.get(name):
                self._tell(call, name, before[name], value, stored[name])
        if suspect is None:
            self._trained[module] = now

    def _tell(self, call: Call, name: str, before: float, after: float, site: Site) -> None:
        data = OverwrittenProbability(attribute=name, before=before, after=after, class_=type(call.module).__name__)
        self.watcher.state(data, site=site, module=call.path, key=("overwritten", call.path, name))


def _stores(kind: type) -> dict[str, Site]:
    """Attributes with a probability's name that the user's own forward assigns, and where."""
    code = getattr(kind.forward, "__code__", None) if hasattr(kind, "forward") else None
    if code is None or not is_users(code.co_filename):
        return {}
    found: dict[str, Site] = {}
    line = code.co_firstlineno
    for step in dis.get_instructions(code):
        line = step.positions.lineno if step.positions and step.positions.lineno else line
        if step.opname == "STORE_ATTR" and ("drop" in step.argval or step.argval in ("p", "prob")):
            found.setdefault(step.argval, Site(shown_path(code.co_filename), line, code.co_name))
    return found
