"""Which module made a tensor."""

from __future__ import annotations

import weakref

import torch
from torch.autograd.graph import Node

from paramedic.capture.graph import producer, serial
from paramedic.capture.moments import Call


class Outputs:
    """Remembers the outputs of all modules since the last step."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[weakref.ref[torch.Tensor], str]] = {}
        self._nodes: dict[int, str] = {}  # by serial number

    def forget(self) -> None:
        self._made.clear()
        self._nodes.clear()

    def remember(self, call: Call, tensors: list[torch.Tensor]) -> None:
        label = f"{call.path} ({type(call.module).__name__})"
        for tensor in tensors:
            known = self._made.get(id(tensor))
            if known is None or known[0]() is not tensor:  # the innermost module is the one that made it
                self._made[id(tensor)] = (weakref.ref(tensor), label)
            if tensor.grad_fn is not None:
                node = serial(tensor.grad_fn)
                call.nodes.add(node)
                self._nodes.setdefault(node, label)

    def maker(self, tensor: torch.Tensor) -> str | None:
        """The module whose output this tensor is, perhaps reshaped: 'net.head (Linear)'."""
        known = self._made.get(id(tensor))
        if known is not None and known[0]() is tensor:
            return known[1]
        return self.made_by(tensor.grad_fn) or self.made_by(producer(tensor.grad_fn))

    def made_by(self, node: Node | None) -> str | None:
        return self._nodes.get(serial(node)) if node is not None else None
