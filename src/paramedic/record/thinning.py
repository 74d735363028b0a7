"""Large sets of numbers in little space, such that what two of them share can still be told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paramedic.record.facts.data import Thinned

if TYPE_CHECKING:
    import numpy as np

MOST_KEPT = 2048
_FULL = 2**64


def thinned(numbers: Any) -> Thinned:
    """A set as data: all of it, or the part that a hash puts below a limit. Other processes keep the same part."""
    import numpy as np  # only now: most commands never thin a set

    members = np.asarray(numbers, dtype=np.uint64)
    if len(members) <= MOST_KEPT:
        return Thinned(kept=np.unique(members).tolist(), limit=_FULL)
    mixed = _mixed(members)
    lowest = np.argpartition(mixed, MOST_KEPT)[:MOST_KEPT]
    return Thinned(kept=np.unique(members[lowest]).tolist(), limit=int(mixed[lowest].max()) + 1)


def shared(some: Thinned, others: Thinned) -> tuple[int, int]:
    """How many of the first set's numbers are in the second, and how many could be looked up."""
    import numpy as np

    limit, known = min(some.limit, others.limit), set(others.kept)
    mixed = _mixed(np.asarray(some.kept, dtype=np.uint64)).tolist()
    compared = [number for number, place in zip(some.kept, mixed, strict=True) if place < limit]
    return sum(number in known for number in compared), len(compared)


def _mixed(numbers: np.ndarray[Any, np.dtype[np.uint64]]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Scatters numbers that lie side by side (splitmix64)."""
    import numpy as np

    x = numbers + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
