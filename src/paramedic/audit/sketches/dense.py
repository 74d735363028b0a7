"""Targets with a class for every pixel or token: which classes there are, where, and whether they fit their inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array, Chunk, Values
from paramedic.audit.sketches.pictures import channel_axis, is_image_shape

MOST_CLASSES = 1024
MOST_KEPT = 100  # samples per class
Key = TypeVar("Key")
LOWEST = -100  # torch's own value for "leave this out"


@dataclass(slots=True)
class DenseSketch:
    """What is known of such targets after some chunks."""

    count: int = 0  # samples
    elements: Counter[int] = field(default_factory=Counter)  # pixels or tokens, by class
    holders: Counter[int] = field(default_factory=Counter)  # samples in which a class occurs
    samples: dict[int, list[int]] = field(default_factory=dict)  # the first of them
    even: list[int] = field(default_factory=list)  # samples of one class all over
    fits: Counter[str] = field(default_factory=Counter)  # "same" size as the input, "turned", "other"
    misfits: dict[str, list[int]] = field(default_factory=dict)
    pictures: bool = False  # pixels, not tokens
    spoilt: bool = False  # not whole numbers, or too many of them: values, not classes

    def update(self, chunk: Chunk) -> None:
        if chunk.target is None or self.spoilt:
            return
        parts = (
            [chunk.target] if isinstance(chunk.target, np.ndarray) else [np.asarray(one)[None] for one in chunk.target]
        )
        rows = [chunk.indices] if isinstance(chunk.target, np.ndarray) else np.split(chunk.indices, len(parts))
        for part, indices in zip(parts, rows, strict=True):
            if part.ndim < 2 or not part.size or part[0].size < 2:
                self.spoilt = self.spoilt or part.ndim < 2
                continue
            self._count(part.reshape(len(part), -1), indices)
        self._compare(chunk.inputs.values(), chunk.target, chunk.indices)

    def merge(self, other: DenseSketch) -> None:
        self.count += other.count
        self.elements += other.elements
        self.holders += other.holders
        self.fits += other.fits
        self.even += other.even
        self.pictures |= other.pictures
        self.spoilt |= other.spoilt
        _join(self.samples, other.samples)
        _join(self.misfits, other.misfits)

    @property
    def known(self) -> bool:
        return bool(self.count) and not self.spoilt

    def _count(self, rows: Array, indices: NDArray[np.int64]) -> None:
        if rows.dtype.kind not in "biuf" or (rows.dtype.kind == "f" and not np.all(rows == np.round(rows))):
            self.spoilt = True
            return
        low, high = int(rows.min()), int(rows.max())
        if low < LOWEST or high - low >= MOST_CLASSES:
            self.spoilt = True
            return
        width = high - low + 1
        flat = (rows.astype(np.int64) - low) + np.arange(len(rows))[:, None] * width
        counts = np.bincount(flat.reshape(-1), minlength=len(rows) * width).reshape(len(rows), width)
        self.count += len(rows)
        for place in np.flatnonzero(counts.sum(axis=0)).tolist():
            hit = counts[:, place] > 0
            self.elements[place + low] += int(counts[:, place].sum())
            self.holders[place + low] += int(hit.sum())
            known = self.samples.setdefault(place + low, [])
            known += indices[hit][: MOST_KEPT - len(known)].tolist()
        self.even += indices[(counts > 0).sum(axis=1) == 1].tolist()

    def _compare(self, inputs: Iterable[Values], target: Values, indices: NDArray[np.int64]) -> None:
        values = next((v for v in inputs if not (isinstance(v, list) and v and isinstance(v[0], str))), None)
        if values is None or len(values) != len(target):
            return
        uniform = isinstance(values, np.ndarray) and isinstance(target, np.ndarray)
        for row in range(1 if uniform else len(indices)):
            one, other = np.asarray(values[row]), np.asarray(target[row])
            fit = _fit(one.shape, other.shape)
            self.pictures |= other.ndim >= 2
            if fit is None:
                continue
            which = indices if uniform else indices[row : row + 1]
            self.fits[fit] += len(which)
            known = self.misfits.setdefault(fit, [])
            if fit != "same":
                known += which[: MOST_KEPT - len(known)].tolist()


def _join(ours: dict[Key, list[int]], theirs: dict[Key, list[int]]) -> None:
    for key, found in theirs.items():
        ours[key] = (ours.get(key, []) + found)[:MOST_KEPT]


def _fit(image: tuple[int, ...], mask: tuple[int, ...]) -> str | None:
    """How the size of a target goes with that of its input; None where they cannot be compared."""
    mask = mask[1:] if len(mask) == 3 and mask[0] == 1 else mask
    if len(mask) == 1 and len(image) >= 1:
        return "same" if image[0] == mask[0] else "other"
    if len(mask) != 2 or not is_image_shape(image):
        return None
    axis = channel_axis(image)
    size = tuple(length for place, length in enumerate(image) if place != axis)
    return "same" if size == mask else "turned" if size == mask[::-1] else "other"
