"""The targets: every label, and the order in which they come."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array, Values
from paramedic.audit.sketches.inputs import InputSketch

MOST_LABELS = 50_000  # different ones


@dataclass(slots=True)
class TargetSketch:
    """All scalar targets (eight bytes each); of larger ones, statistics only."""

    values: InputSketch = field(default_factory=InputSketch)
    parts: list[Array] = field(default_factory=list)  # numbers, or codes of names
    indices: list[NDArray[np.int64]] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=dict)  # of classes given as text
    elements: Counter[object] = field(default_factory=Counter)  # values inside targets that are arrays of whole numbers
    missing: list[int] = field(default_factory=list)  # samples without a target

    def update(self, target: Values | None, indices: NDArray[np.int64]) -> None:
        if target is None:
            return
        self.values.update(target, indices)
        self.missing += self.values.bad_rows[len(self.missing) :]
        scalars = self._scalars(target, indices)
        if scalars is not None:
            self.parts.append(scalars)
            self.indices.append(indices)
        elif isinstance(target, np.ndarray) and target.dtype.kind in "iu" and len(self.elements) < MOST_LABELS:
            found, counts = np.unique(target, return_counts=True)
            self.elements.update(dict(zip(found.tolist(), counts.tolist(), strict=True)))

    def merge(self, other: TargetSketch) -> None:
        self.values.merge(other.values)
        for part, indices in zip(other.parts, other.indices, strict=True):
            if other.names:
                names = list(other.names)
                part = np.asarray([self._code(names[code]) for code in part.tolist()])
            self.parts.append(part)
            self.indices.append(indices)
        self.elements += other.elements
        self.missing += other.missing

    @property
    def labels(self) -> Array | None:
        """One number per sample in reading order, or None when targets are not scalars."""
        return np.concatenate(self.parts) if self.parts else None

    @property
    def samples(self) -> NDArray[np.int64]:
        return np.concatenate(self.indices) if self.indices else np.zeros(0, dtype=np.int64)

    def shown(self, label: Any) -> str:
        """A label as its owner knows it."""
        if self.names:
            return repr(list(self.names)[int(label)])
        return f"{label:g}" if isinstance(label, float) else str(label)

    def _scalars(self, target: Values, indices: NDArray[np.int64]) -> Array | None:
        if isinstance(target, list):
            if not target or not isinstance(target[0], str) or len(self.names) > MOST_LABELS:
                return None
            self.missing += [int(i) for i, word in zip(indices.tolist(), target, strict=True) if not word]
            return np.asarray([self._code(word) for word in target], dtype=np.int64)
        if target.dtype.kind not in "biuf":
            return np.asarray([self._code(str(word)) for word in target.tolist()], dtype=np.int64)
        if target.ndim == 1 or target.size == len(target):
            return target.reshape(-1)
        one_hot = target.ndim == 2 and target.min() >= 0 and target.max() == 1 and bool((target.sum(axis=1) == 1).all())
        return target.argmax(axis=1) if one_hot else None

    def _code(self, word: str) -> int:
        return self.names.setdefault(word, len(self.names))
