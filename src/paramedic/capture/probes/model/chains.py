"""Affine layers whose output goes straight into the next one."""

from __future__ import annotations

import weakref
from collections import Counter
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.autograd.graph import Node

from paramedic.aliases import Args, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.graph import serial, serials
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.record import facts
from paramedic.record.writer import Site

_AFFINE = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
MOST_REMEMBERED = 256
MOST_WAITING = 32  # for a backward pass: a node keeps its graph alive


class Chain(NamedTuple):
    """A layer's output that went into the next one."""

    step: int
    node: int  # of the graph, that made the output: its serial number
    site: Site
    path: str  # of the second layer
    fact: facts.Chain


@probe("chains", states=[facts.Chain])
class Chains:
    """Recognises the very tensor that one layer returned as the input of another, unchanged in between.

    Only the backward pass shows whether something else has used it as well, as a graph attention does.
    """

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._made: dict[int, tuple[weakref.ref[torch.Tensor], int, str, facts.Layer]] = {}
        self._waiting: list[Chain] = []

    @on(moments.step_taken, moments.round_over)
    def _forget(self) -> None:
        """The samples of a GAN are made before the step of one optimizer, and go back before that of the other."""
        self._made.clear()
        self._waiting = [chain for chain in self._waiting if chain.step >= self.watcher.step - 1]

    @on(moments.module_called)
    def called(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        if type(call.module) not in _AFFINE or not call.grad or not args or not isinstance(args[0], torch.Tensor):
            return
        about = _about(call.module)
        given: torch.Tensor = args[0]
        known = self._made.get(id(given))
        same = known is not None and known[0]() is given
        if known is not None and same and known[1] == given._version:
            site = self.watcher.registry.birth_site(call.module)
            fact = facts.Chain(first=known[2], first_layer=known[3], second_layer=about)
            self._waiting.append(Chain(self.watcher.step, serial(given.grad_fn), site, call.path, fact))
            del self._waiting[:-MOST_WAITING]
        if isinstance(output, torch.Tensor) and len(self._made) < MOST_REMEMBERED:
            self._made[id(output)] = (weakref.ref(output), output._version, call.path, about)

    @on(moments.pass_followed)
    def passed(self, nodes: set[Node]) -> None:
        """A backward pass goes through these nodes: which outputs were used by nothing but the next layers?"""
        if not self._waiting:
            return
        used = serials(nodes)
        chains = [chain for chain in self._waiting if chain.node in used]
        if not chains:
            return
        self._waiting = [chain for chain in self._waiting if chain.node not in used]
        layers = Counter(chain.node for chain in chains)
        before = (serial(node) for user in nodes for node, _ in user.next_functions if node is not None)
        users = Counter(number for number in before if number in layers)
        for chain in chains:
            if users[chain.node] <= layers[chain.node]:
                key = (chain.fact.first, chain.path)
                self.watcher.state(chain.fact, site=chain.site, module=chain.path, phase="train", key=key)


def _about(module: Any) -> facts.Layer:
    if isinstance(module, nn.Linear):
        return facts.Layer(class_="Linear", in_=module.in_features, out=module.out_features, kernel=1, groups=1)
    kernel = 1
    for size in module.kernel_size:
        kernel *= size
    name, groups = type(module).__name__, module.groups
    return facts.Layer(class_=name, in_=module.in_channels, out=module.out_channels, kernel=kernel, groups=groups)
