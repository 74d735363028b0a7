"""Recurrent state that still carries the graph of a backward pass that is over."""

from __future__ import annotations

import weakref
from typing import Any

import torch
from torch.autograd.graph import Node

from paramedic.aliases import Args, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.tensors import tensors_in
from paramedic.record.facts import CarriedState

MOST_REMEMBERED = 256
NEAR = 12  # nodes looked at behind an output: a stack or a view may lie on top


@probe("recurrence", states=[CarriedState])
class Recurrence:
    """Remembers outputs weakly, marks those a backward pass went through, and waits for them to come back as inputs."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._outputs: dict[int, tuple[weakref.ref[torch.Tensor], str]] = {}
        self._used: set[int] = set()  # of those, the ones that a backward pass went through

    @on(moments.module_called)
    def called(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        if not call.grad:
            return
        for path, tensor in tensors_in((args, kwargs)):
            known = self._outputs.get(id(tensor))
            if known is not None and known[0]() is tensor and known[1] == call.path and id(tensor) in self._used:
                data = CarriedState(input=path, class_=type(call.module).__name__)
                self.watcher.state(data, site=call.site, module=call.path, key=("carried", call.path))
        for _, tensor in tensors_in(output):
            if tensor.grad_fn is not None and len(self._outputs) < MOST_REMEMBERED:
                self._outputs[id(tensor)] = (weakref.ref(tensor), call.path)
                self._used.discard(id(tensor))  # an identity may come back as another tensor

    @on(moments.pass_followed)
    def passed(self, nodes: set[Node]) -> None:
        """A backward pass goes through these nodes."""
        alive = {key: known for key, known in self._outputs.items() if known[0]() is not None}
        self._outputs = alive
        self._used &= set(alive)
        for key, (reference, _) in alive.items():
            tensor = reference()
            if tensor is not None and not nodes.isdisjoint(_near(tensor.grad_fn)):
                self._used.add(key)


def _near(node: Any) -> set[object]:
    """The nodes just behind an output; not those of weights, which all passes of a module share."""
    found: set[object] = set()
    waiting = [node]
    while waiting and len(found) < NEAR:
        node = waiting.pop(0)
        if node is not None and node not in found and not hasattr(node, "variable"):
            found.add(node)
            waiting += [following for following, _ in node.next_functions]
    return found
