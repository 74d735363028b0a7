"""Optimizers that never step although backward passes reach what they hold."""

from __future__ import annotations

import weakref
from dataclasses import dataclass

import torch
from torch.autograd.graph import Node
from torch.optim import Optimizer

from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.facts import readable
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.record.facts import Unstepped
from paramedic.record.writer import NOWHERE, Site

TENSORS, ELEMENTS = 8, 16  # that are looked at of each optimizer


@dataclass(slots=True)
class Waiting:
    """An optimizer before its first step; at the end of the run it may be gone."""

    first: torch.Tensor
    fact: Unstepped
    site: Site
    moved: bool = False


@probe("unstepped", states=[Unstepped])
class UnsteppedOptimizers:
    """Remembers a few elements when the first gradients come, and compares in the passes that follow without a step."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.loop = watcher.known.loop
        self._waiting: weakref.WeakKeyDictionary[Optimizer, Waiting] = weakref.WeakKeyDictionary()
        self._all: list[Waiting] = []
        self._stepped = False

    @on(moments.pass_followed)
    def followed(self, nodes: set[Node]) -> None:
        if self._stepped:
            return
        for optimizer in list(self.loop.accounts):
            now, known = _some_of(optimizer), self._waiting.get(optimizer)
            if known is None and now is not None:
                held = sum(len(group["params"]) for group in optimizer.param_groups)
                fact = Unstepped(class_=type(optimizer).__name__, held=held)
                self._waiting[optimizer] = Waiting(now, fact, self.loop.books.births.get(optimizer, NOWHERE))
                self._all.append(self._waiting[optimizer])
            elif known is not None:  # the program may move them itself
                known.moved |= now is None or now.shape != known.first.shape or not torch.equal(now, known.first)

    @on(moments.step_taken)
    def stepped(self) -> None:
        self._stepped = True
        self._all.clear()

    @on(moments.run_over)
    def over(self) -> None:
        for waiting in self._all:
            if not waiting.moved:
                self.watcher.state(waiting.fact, site=waiting.site, phase="train")


def _some_of(optimizer: Optimizer) -> torch.Tensor | None:
    held = [p.detach().reshape(-1) for group in optimizer.param_groups for p in group["params"] if readable(p)]
    if not held or len({p.device for p in held}) > 1:
        return None
    with torch.no_grad():
        return torch.cat([p[:: -(-p.numel() // ELEMENTS)].double() for p in held[:TENSORS] if p.numel()])
