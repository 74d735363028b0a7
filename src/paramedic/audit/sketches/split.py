"""Everything that one pass learns about one split."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array, BadSample, Boxes, Chunk, Source
from paramedic.audit.sketches import hashes
from paramedic.audit.sketches.dense import DenseSketch
from paramedic.audit.sketches.groups import Groups
from paramedic.audit.sketches.inputs import InputSketch
from paramedic.audit.sketches.kept import Kept
from paramedic.audit.sketches.prints import Prints
from paramedic.audit.sketches.rows import Rows
from paramedic.audit.sketches.targets import TargetSketch

MOST_BAD = 10_000


@dataclass(slots=True)
class SplitSketch:
    """The statistics of a split; `update` feeds it, `merge` joins the sketches of two parts of one split."""

    size: int = 0
    inputs: dict[str, InputSketch] = field(default_factory=dict)
    target: TargetSketch = field(default_factory=TargetSketch)
    kept: Kept = field(default_factory=Kept)
    prints: Prints = field(default_factory=Prints)
    rows: Rows = field(default_factory=Rows)
    groups: Groups = field(default_factory=Groups)
    dense: DenseSketch = field(default_factory=DenseSketch)
    bad: list[BadSample] = field(default_factory=list)
    boxes: list[tuple[int, Boxes]] = field(default_factory=list)
    hash_parts: list[NDArray[np.int64]] = field(default_factory=list)
    index_parts: list[NDArray[np.int64]] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)  # files, as the samples themselves say
    numbering: dict[str, list[Array]] = field(default_factory=dict)  # by column, in the order of the targets
    stopped: str = ""  # why not everything was read

    def update(self, chunk: Chunk) -> None:
        self.bad += list(chunk.bad)[: MOST_BAD - len(self.bad)]
        size = len(chunk.indices)
        if not size:
            return
        self.size += size
        if chunk.inputs:
            self.hash_parts.append(hashes.of_samples(chunk.inputs, size))
            self.index_parts.append(chunk.indices)
        for name, values in chunk.inputs.items():
            if len(values) == size:
                self.inputs.setdefault(name, InputSketch()).update(values, chunk.indices)
        self.target.update(chunk.target, chunk.indices)
        self.groups.update(chunk)
        self.dense.update(chunk)
        self.kept.update(chunk)
        self.prints.update(chunk, self.inputs)
        if not self.prints.thumbs:
            self.rows.update(chunk, self.inputs)
        self.names |= chunk.names
        for name, numbers in chunk.numbering.items():
            self.numbering.setdefault(name, []).append(numbers)
        self.boxes += list(zip(chunk.indices.tolist(), chunk.boxes, strict=False))

    def merge(self, other: SplitSketch) -> None:
        self.size += other.size
        for name, sketch in other.inputs.items():
            self.inputs.setdefault(name, InputSketch()).merge(sketch)
        self.target.merge(other.target)
        self.kept.merge(other.kept)
        self.prints.merge(other.prints)
        self.rows.merge(other.rows)
        self.groups.merge(other.groups)
        self.dense.merge(other.dense)
        self.bad += other.bad
        self.boxes += other.boxes
        self.names |= other.names
        for name, parts in other.numbering.items():
            self.numbering.setdefault(name, []).extend(parts)
        self.hash_parts += other.hash_parts
        self.index_parts += other.index_parts
        self.stopped = self.stopped or other.stopped

    @property
    def hashes(self) -> NDArray[np.int64]:
        return np.concatenate(self.hash_parts) if self.hash_parts else np.zeros(0, dtype=np.int64)

    @property
    def indices(self) -> NDArray[np.int64]:
        """The index of each sample, in the order of `hashes`."""
        return np.concatenate(self.index_parts) if self.index_parts else np.zeros(0, dtype=np.int64)


def sketch(source: Source, *, progress: object = None) -> SplitSketch:
    """Read a source to its end, or to Ctrl-C."""
    found = SplitSketch()
    advance = getattr(progress, "advance", lambda _: None)
    try:
        for chunk in source.read():
            found.update(chunk)
            advance(len(chunk.indices) + len(chunk.bad))
    except KeyboardInterrupt:
        found.stopped = f"stopped after {found.size:,} samples of {source.title}"
    return found
