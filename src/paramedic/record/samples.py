"""Statistics of many tensors at one step: how they are packed into the record, and which steps stay in it."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from paramedic.record.summary import BINS, FIELDS, Summary, from_row

if TYPE_CHECKING:
    import numpy as np

ROLES = ("gradient", "weight", "update", "output")
MOST_STEPS = 256  # kept; of a longer run every other one goes, again and again
FIRST_STEPS = 8  # stay for ever: how training began
MOST_REMARKABLE = 64  # spikes and non-finite values stay as well, up to so many


class NewSample(NamedTuple):
    """One role's rows on their way into the file."""

    step: int
    role: str
    names: tuple[str, ...]
    rows: np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, kw_only=True)
class Sample:
    """What the tensors of one role looked like at one step."""

    step: int
    role: str
    names: tuple[str, ...]
    rows: np.ndarray[Any, np.dtype[np.float64]]

    @cached_property
    def summaries(self) -> Mapping[str, Summary]:
        """By name; a tensor whose values could not be looked at is missing."""
        found = ((name, from_row(row)) for name, row in zip(self.names, self.rows.tolist(), strict=True))
        return {name: summary for name, summary in found if isinstance(summary, Summary)}


def pack(rows: np.ndarray[Any, np.dtype[np.float64]]) -> bytes:
    """The ten numbers stay exact; of the histogram, float32 is plenty."""
    import numpy as np

    exact, rough = rows[:, : len(FIELDS)], rows[:, len(FIELDS) :].astype(np.float32)
    return zlib.compress(exact.tobytes() + rough.tobytes(), 1)


def unpack(packed: bytes, count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    import numpy as np  # only now: most commands never read a sample

    split = count * len(FIELDS) * 8
    raw = zlib.decompressobj().decompress(packed, count * (len(FIELDS) * 8 + BINS * 4) + 1)
    exact = np.frombuffer(raw[:split], dtype=np.float64).reshape(count, -1)
    rough = np.frombuffer(raw[split:], dtype=np.float32).reshape(count, -1)
    return np.concatenate([exact, rough.astype(np.float64)], axis=1)


class Keep:
    """Decides which sampled steps stay in the record, so that its size is bounded whatever the run's length."""

    def __init__(self) -> None:
        self._steps: list[int] = []
        self._remarkable: set[int] = set()

    def add(self, step: int, *, remarkable: bool) -> list[int]:
        """A step was sampled. Returns the steps that must go to make room."""
        if not self._steps or self._steps[-1] != step:
            self._steps.append(step)
        if remarkable and len(self._remarkable) < MOST_REMARKABLE:
            self._remarkable.add(step)
        if len(self._steps) <= MOST_STEPS:
            return []
        ordinary = [step for step in self._steps[FIRST_STEPS:-1] if step not in self._remarkable]
        gone = set(ordinary[::2])
        self._steps = [step for step in self._steps if step not in gone]
        return sorted(gone)
