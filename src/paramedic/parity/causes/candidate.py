"""A possible cause, and how people are told of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paramedic.parity.changes import Change
from paramedic.parity.trace import Layer


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """`what` is the cause in words; the change makes the live side behave like the other."""

    what: str
    layer: Layer  # of the live side
    change: Change


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What the sides are called: `mine` is the one that can be changed."""

    reference: str
    mine: str

    def versus(self, name: str, other: object, mine: object) -> str:
        """A setting on both sides, side a first whichever of them is live."""
        values = {self.reference: other, self.mine: mine}
        first, second = sorted(values)
        return f"{name} is {shown(values[first])} in {first} and {shown(values[second])} in {second}"


def shown(value: object) -> str:
    if callable(value):
        return str(getattr(value, "__name__", value))
    if isinstance(value, float):
        return f"{value:g}"
    return repr(value)


def differing(other: Mapping[str, object], mine: Mapping[str, object]) -> list[str]:
    """Settings that both have, with different values."""
    return [name for name in mine if name in other and not _equal(other[name], mine[name])]


def _equal(a: Any, b: Any) -> bool:
    if callable(a) and callable(b):
        return getattr(a, "__name__", a) == getattr(b, "__name__", b)
    if isinstance(a, float) and isinstance(b, float):
        return a == b or abs(a - b) <= 1e-6 * max(abs(a), abs(b))  # ONNX holds float32
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return list(a) == list(b)
    if isinstance(a, list | tuple) != isinstance(b, list | tuple):  # 3 is (3, 3) for a kernel
        many, one = (a, b) if isinstance(a, list | tuple) else (b, a)
        return bool(many) and all(part == one for part in many)
    return bool(a == b)
