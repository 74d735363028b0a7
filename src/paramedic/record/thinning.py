"""Large sets of numbers in little space, such that what two of them share can still be told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

MOST_KEPT = 2048
_FULL = 2**64


def thinned(numbers: Iterable[int]) -> dict[str, Any]:
    """A set as data: all of it, or the part that a hash puts below a limit. Other processes keep the same part."""
    mixed = sorted((_mix(number), number) for number in set(numbers))
    kept = mixed[:MOST_KEPT]
    return {"kept": [number for _, number in kept], "limit": _FULL if len(kept) == len(mixed) else kept[-1][0] + 1}


def shared(some: Mapping[str, Any], others: Mapping[str, Any]) -> tuple[int, int]:
    """How many of the first set's numbers are in the second, and how many could be looked up."""
    limit, known = min(some["limit"], others["limit"]), set(others["kept"])
    compared = [number for number in some["kept"] if _mix(number) < limit]
    return sum(number in known for number in compared), len(compared)


def _mix(number: int) -> int:
    """Scatters numbers that lie side by side (splitmix64)."""
    x = (number + 0x9E3779B97F4A7C15) % _FULL
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % _FULL
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % _FULL
    return x ^ (x >> 31)
