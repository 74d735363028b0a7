"""One input of the samples (an image, a vector, all numbers of a table, a text): shapes, types, values."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array, Values
from paramedic.audit.sketches.encoding import damage
from paramedic.audit.sketches.moments import Moments

MOST_KEPT = 10_000  # indices of bad samples, different words
SHORT = 20  # characters: such texts repeat by nature
Shape = tuple[int, ...]


@dataclass(slots=True)
class InputSketch:
    """What is known of one input after some chunks."""

    count: int = 0
    shapes: Counter[Shape] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    odd: dict[object, list[int]] = field(default_factory=dict)  # shape or type -> the first samples that have it
    moments: Moments | None = None  # per feature; of all values together where shapes differ
    bad_rows: list[int] = field(default_factory=list)  # samples with NaN or infinity
    bad_count: int = 0
    infinite: int = 0
    whole: bool = True  # all values are whole numbers
    blank: list[int] = field(default_factory=list)  # samples of one value everywhere, or texts of a word or two
    empty: list[int] = field(default_factory=list)  # texts without a letter
    damaged: dict[int, str] = field(default_factory=dict)  # texts read in the wrong encoding: what shows it
    words: Counter[str] = field(default_factory=Counter)
    characters: int = 0

    def update(self, values: Values, indices: NDArray[np.int64]) -> None:
        self.count += len(values)
        if isinstance(values, list):
            self._update_list(values, indices)
        elif len(values):
            self._note(values.shape[1:], str(values.dtype), indices)
            if values.dtype.kind in "biuf":
                self._update_rows(values.reshape(len(values), -1), indices)

    def merge(self, other: InputSketch) -> None:
        self.count += other.count
        self.shapes += other.shapes
        self.types += other.types
        for key, samples in other.odd.items():
            self.odd[key] = (self.odd.get(key, []) + samples)[:MOST_KEPT]
        self._merge_moments(other.moments)
        self.bad_rows = (self.bad_rows + other.bad_rows)[:MOST_KEPT]
        self.bad_count += other.bad_count
        self.infinite += other.infinite
        self.whole &= other.whole
        self.blank = (self.blank + other.blank)[:MOST_KEPT]
        self.empty = (self.empty + other.empty)[:MOST_KEPT]
        self.damaged |= dict(list(other.damaged.items())[: MOST_KEPT - len(self.damaged)])
        self._count_words(other.words)
        self.characters += other.characters

    @property
    def shape(self) -> Shape:
        return self.shapes.most_common(1)[0][0] if self.shapes else ()

    @property
    def type(self) -> str:
        return self.types.most_common(1)[0][0] if self.types else ""

    @property
    def is_text(self) -> bool:
        """Prose rather than one of a few names."""
        if self.type != "text" or not self.count:
            return False
        return self.characters / self.count > 25 and len(self.words) > min(self.count, MOST_KEPT) / 2

    def _update_list(self, values: list[Any], indices: NDArray[np.int64]) -> None:
        if values and isinstance(values[0], str):
            self._note((), "text", indices)
            self._count_words(Counter(values))
            self.characters += sum(map(len, values))
            if len(self.damaged) < MOST_KEPT:
                found = ((int(i), damage(value)) for i, value in zip(indices, values, strict=True))
                self.damaged |= {i: shown for i, shown in found if shown}
            if len(self.blank) < MOST_KEPT:
                short = [i for i, value in zip(indices.tolist(), values, strict=True) if len(value) < SHORT]
                self.blank += short
                self.empty += [i for i, value in zip(indices.tolist(), values, strict=True) if not value.strip()]
            return
        for value, index in zip(values, indices.tolist(), strict=True):
            one = np.asarray([index])
            self._note(value.shape, str(value.dtype), one)
            if value.dtype.kind in "biuf" and value.size:
                self._update_rows(value.reshape(1, -1), one, together=True)

    def _update_rows(self, rows: Array, indices: NDArray[np.int64], *, together: bool = False) -> None:
        if rows.dtype.kind == "f":
            with np.errstate(all="ignore"):
                suspicious = not np.isfinite(rows.sum(dtype=np.float64))
            if suspicious:
                bad = ~np.isfinite(rows)
                self.bad_count += int(bad.sum())
                self.infinite += int(np.isinf(rows).sum())
                self.bad_rows = (self.bad_rows + indices[bad.any(axis=1)].tolist())[:MOST_KEPT]
            if self.whole:
                good = rows[np.isfinite(rows)] if suspicious else rows
                self.whole = bool((good == np.round(good)).all())
        if rows.shape[1] > 3 and len(self.blank) < MOST_KEPT:
            self.blank += indices[rows.min(axis=1) == rows.max(axis=1)].tolist()
        numbers = rows.astype(np.uint8) if rows.dtype.kind == "b" else rows
        moments = Moments.of(numbers.reshape(-1, 1) if together else numbers)
        self._merge_moments(moments)

    def _merge_moments(self, moments: Moments | None) -> None:
        if moments is None:
            return
        if self.moments is None:
            self.moments = moments
        elif len(self.moments.mean) == len(moments.mean):
            self.moments = self.moments.merge(moments)
        else:  # samples of different shapes: only all values together can be compared
            self.moments = _together(self.moments).merge(_together(moments))

    def _note(self, shape: Shape, kind: str, indices: NDArray[np.int64]) -> None:
        self.shapes[shape] += len(indices)
        self.types[kind] += len(indices)
        for key in (shape, kind):
            known = self.odd.setdefault(key, []) if len(self.odd) < 1000 else []
            if len(known) < 100:
                known += indices[: 100 - len(known)].tolist()

    def _count_words(self, words: Counter[str]) -> None:
        if len(self.words) < MOST_KEPT:
            self.words += words


def _together(moments: Moments) -> Moments:
    if len(moments.mean) == 1:
        return moments
    mean, std = moments.pooled()
    count = float(moments.count.sum())
    one = np.asarray
    return Moments(
        one([count]), one([mean]), one([std**2 * count]), one([moments.low.min()]), one([moments.high.max()])
    )
