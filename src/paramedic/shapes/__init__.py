"""`paramedic.shapes`: shapes written down, and checked.

@paramedic.shapes("B T 80 -> B classes")
def forward(self, x): ...

The decorator costs nothing until the program is watched (`paramedic run`, `paramedic.watch()`): then every call is
compared with the contract, and a difference is finding PM422. `paramedic shapes` prints the shapes of a whole model.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import TypeVar

from paramedic.aliases import Function

F = TypeVar("F", bound=Function)


class _Decorator(ModuleType):
    """A module that can be called, so that `paramedic.shapes` is the decorator and the package at once."""

    def __call__(self, contract: str) -> Callable[[F], F]:
        """The shapes of a function's tensors, inputs -> outputs: "B T, B -> B C". Names have one size per call."""
        from paramedic.contracts.declared import declare

        return declare(contract)


sys.modules[__name__].__class__ = _Decorator
