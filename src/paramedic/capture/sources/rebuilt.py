"""Modules that are built inside a forward pass: once and kept, or anew in every call?"""

from __future__ import annotations

from dataclasses import dataclass, field
from weakref import WeakKeyDictionary, WeakSet

from torch import nn

from paramedic.capture.names import Registry
from paramedic.record.writer import Site


@dataclass(slots=True)
class Line:
    """A line of one model's forward pass that builds modules."""

    first_turn: int
    kept: bool = False  # what it built was called again later: the model works out its sizes from the first batch
    modules: WeakSet[nn.Module] = field(default_factory=WeakSet)


class Rebuilt:
    """Tells modules that are new in every call from those that only came late."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self.turn = 0  # calls of top-level modules so far
        self._lines: WeakKeyDictionary[nn.Module, dict[Site, Line]] = WeakKeyDictionary()

    def inside(self, module: nn.Module, root: nn.Module) -> str | None:
        """The module in whose forward pass this one was built, once that has happened in more than one call."""
        birth = self.registry.birth(module)
        if birth is None or birth.inside is None:
            return None
        line = self._lines.setdefault(root, {}).setdefault(birth.site, Line(self.turn))
        later = self.turn > line.first_turn
        line.kept |= later and module in line.modules
        line.modules.add(module)
        return birth.inside if later and not line.kept else None
