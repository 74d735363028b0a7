"""What probes see in the forward pass and tell only if a backward pass comes by."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Waiting(NamedTuple):
    """Something that matters only if a backward pass goes through this node."""

    node: int  # its serial number
    tell: Callable[[], object]
    term: bool = False  # and only if the node is a sum of terms of the loss itself
    constant: bool = False  # a term of it without gradient
    unless_pairwise: bool = False  # and not if the loss compares everything with everything on purpose
