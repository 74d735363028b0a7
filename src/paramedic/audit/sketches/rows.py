"""Samples as rows of numbers of one width, as far as memory allows: to compare them column by column."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array, Chunk, Values
from paramedic.audit.sketches.inputs import InputSketch

MOST_VALUES = 32_000_000
MOST = 1_000_000  # samples


@dataclass(slots=True)
class Rows:
    """All numbers of a sample side by side, and its names as numbers that are equal where the names are."""

    names: tuple[str, ...] | None = None  # of the inputs that take part; those of the first chunk
    indices: list[NDArray[np.int64]] = field(default_factory=list)
    parts: list[Array] = field(default_factory=list)
    count: int = 0
    full: bool = False

    def update(self, chunk: Chunk, known: Mapping[str, InputSketch]) -> None:
        if self.full:
            return
        if self.names is None:
            self.names = tuple(
                name for name, values in chunk.inputs.items() if name in known and _usable(values, known[name])
            )
        columns = [_columns(chunk.inputs[name]) for name in self.names if name in chunk.inputs]
        whole = [column for column in columns if column is not None]
        if len(whole) < len(self.names) or not whole:
            self._forget()
            return
        self._add(np.concatenate(whole, axis=1) if len(whole) > 1 else whole[0], chunk.indices)

    def merge(self, other: Rows) -> None:
        if self.names is None:
            self.names = other.names
        elif other.names != self.names:
            self._forget()
        for part, indices in zip(other.parts, other.indices, strict=True):
            if not self.full:
                self._add(part, indices)

    def joined(self) -> tuple[NDArray[np.int64], Array] | None:
        """The samples and their rows; None where samples are no rows."""
        return (np.concatenate(self.indices), np.concatenate(self.parts)) if self.parts else None

    def _add(self, rows: Array, indices: NDArray[np.int64]) -> None:
        if self.parts and self.parts[0].shape[1] != rows.shape[1]:
            self._forget()
            return
        room = min(MOST, MOST_VALUES // max(rows.shape[1], 1)) - self.count
        self.full = len(rows) >= room
        if room > 0:
            self.parts.append(rows[:room].copy())
            self.indices.append(indices[:room])
            self.count += len(self.parts[-1])

    def _forget(self) -> None:
        """Samples of different shapes cannot be compared column by column."""
        self.parts, self.indices, self.count, self.full = [], [], 0, True


def _usable(values: Values, sketch: InputSketch) -> bool:
    if isinstance(values, list):
        return sketch.type == "text" and not sketch.is_text
    return values.dtype.kind in "biuf"


def _columns(values: Values) -> Array | None:
    if isinstance(values, np.ndarray):
        return values.reshape(len(values), -1)
    if not all(isinstance(value, str) for value in values):
        return None
    codes = {name: zlib.crc32(name.encode()) for name in set(values)}  # the same in every process
    return np.asarray([[codes[name]] for name in values], dtype=np.float64)
