"""A call that ends the gradient's path, as probes pass it on."""

from __future__ import annotations

import weakref
from typing import NamedTuple

import torch
from torch.autograd.graph import Node

from paramedic.capture.graph import reach
from paramedic.record.writer import Site


class Cut(NamedTuple):
    """A call that returned a value without its history."""

    node: Node  # what computed it
    op: str
    site: Site
    scalar: bool = False  # the value was a single number, such as a loss
    passes: int = 0  # backward passes since the last step when it happened
    value: float | None = None  # that a tensor became as a Python number
    leaf: weakref.ref[torch.Tensor] | None = None  # it was not computed; its accumulator must not be kept

    def leaves(self) -> set[int]:
        """The ids of the tensors whose gradient ends here."""
        if self.leaf is not None:
            return {id(self.leaf())}
        return {id(leaf) for leaf in reach(self.node).leaves}
