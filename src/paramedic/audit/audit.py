"""What the checks read: the sketches of both splits, the task, and what models made of a fair sample of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from paramedic.audit.chunk import Source
from paramedic.audit.sketches.inputs import InputSketch
from paramedic.audit.sketches.moments import Floats
from paramedic.audit.sketches.split import SplitSketch
from paramedic.audit.task import Task

if TYPE_CHECKING:
    from paramedic.audit.models.features import Features
    from paramedic.audit.models.label_errors import Doubts
    from paramedic.audit.models.near import Pair
    from paramedic.audit.models.signal import Signal

CURVED = 0.7  # correlation of neighbouring columns


@dataclass(frozen=True)
class Split:
    """One part of the data."""

    name: str  # "train" or "val"
    source: Source
    sketch: SplitSketch

    @property
    def size(self) -> int:
        return self.sketch.size

    def input(self, name: str) -> InputSketch:
        return self.sketch.inputs[name]

    def feature(self, name: str, place: int) -> str:
        """A column's own name, or where it stands."""
        names = self.source.features.get(name, ())
        return repr(names[place]) if place < len(names) else str(place)

    def samples(self, indices: Sequence[int], most: int = 5) -> str:
        """'samples 3, 17 and 4 more', with file names where there are any."""
        shown = [self.called(index) for index in list(indices)[:most]]
        more = f" and {len(indices) - most:,} more" if len(indices) > most else ""
        word = "file" if self.source.names or self.sketch.names else "sample"
        return f"{word}{'s' * (len(indices) > 1)} {', '.join(shown)}{more}"

    def called(self, index: int) -> str:
        return self.file(index) or str(index)

    def file(self, index: int) -> str:
        """The file of a sample; nothing where samples are not files."""
        names = self.source.names
        return names[index] if index < len(names) else self.sketch.names.get(index, "")

    def columns(self, name: str, places: Iterable[int]) -> tuple[str, ...]:
        """Names of columns, for machines."""
        return tuple(self.feature(name, int(place)).strip("'") for place in places)

    @cached_property
    def features(self) -> Features:
        from paramedic.audit.models.features import features

        return features(self)

    def quartiles(self, name: str) -> tuple[Floats, Floats, Floats] | None:
        """25 %, 50 % and 75 % of each column among the kept samples; None where an input is no row of numbers."""
        values = self.sketch.kept.inputs.get(name)
        if values is None or isinstance(values, list) or values.dtype.kind not in "biuf" or not len(values):
            return None
        rows = np.asarray(values, dtype=np.float64).reshape(len(values), -1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a column without any number has no quartiles
            low, middle, high = np.nanpercentile(np.where(np.isfinite(rows), rows, np.nan), [25, 50, 75], axis=0)
        return low, middle, high

    @cached_property
    def redrawn(self) -> dict[str, Floats]:
        """The spread of each column that is drawn anew at every reading."""
        from paramedic.audit.models.redrawn import redrawn

        return redrawn(self)

    @cached_property
    def of_curves(self) -> bool:
        """Whether the numbers of a sample are points of one curve, as of a signal or a spectrum.

        Neighbours go together then, and those that are far apart do less.
        """
        if len(self.sketch.kept.inputs) != 1 or any(self.source.features.values()):
            return False
        (values,) = self.sketch.kept.inputs.values()
        if isinstance(values, list) or values.dtype.kind != "f" or values.ndim != 2 or values.shape[1] < 16:
            return False
        rows = np.asarray(values[:2000], dtype=np.float64)
        rows = rows[:, np.isfinite(rows).all(axis=0) & (np.ptp(rows, axis=0) > 0)]
        if len(rows) < 20 or rows.shape[1] < 16:
            return False
        unit = (rows - rows.mean(axis=0)) / rows.std(axis=0)
        beside = np.abs((unit[:, 1:] * unit[:, :-1]).mean(axis=0))
        across = np.abs((unit * np.roll(unit, rows.shape[1] // 2, axis=1)).mean(axis=0))
        return bool(np.median(beside) > CURVED and np.median(across) < np.median(beside) - 0.2)

    @cached_property
    def pixel_like(self) -> bool:
        """Whether the numbers of a sample are of one kind, as pixels are, and not columns of different meaning."""
        sketches = [sketch for sketch in self.sketch.inputs.values() if sketch.moments is not None]
        if len(sketches) != 1 or sketches[0].moments is None:
            return False
        if len(sketches[0].shape) >= 2:
            return True
        moments = sketches[0].moments
        if len(moments.mean) < 16:
            return False
        varied = ~moments.constant
        spans = (moments.high - moments.low)[varied]
        same_floor = float(np.mean(moments.low == moments.low.min())) > 0.8
        return same_floor and bool(len(spans)) and float(np.median(spans)) > 0.5 * float(spans.max())


@dataclass(frozen=True)
class Audit:
    """Everything that is known when the passes over the data are over."""

    train: Split
    val: Split | None
    task: Task

    @property
    def splits(self) -> tuple[Split, ...]:
        return (self.train,) if self.val is None else (self.train, self.val)

    @cached_property
    def signal(self) -> Signal | None:
        from paramedic.audit.models.signal import measure

        return measure(self.train, self.task)

    @cached_property
    def doubts(self) -> Doubts | None:
        from paramedic.audit.models.label_errors import doubts

        return doubts(self)

    @cached_property
    def near(self) -> dict[tuple[str, str], list[Pair]]:
        """Pairs of samples that are nearly the same, inside and across splits."""
        from paramedic.audit.models.near import near_pairs

        return near_pairs(self.splits)
