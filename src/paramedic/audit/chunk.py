"""What flows through an audit: chunks of samples, column by column, each sample with its index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paramedic.findings import Where

Array = NDArray[Any]
Values = Array | list[Any]  # one array with a row per sample; or a list of texts, or of arrays of different shapes

FED = ("dataset", "loader")  # kinds of sources that give what the network sees, not what lies on the disk


@dataclass(frozen=True, slots=True, kw_only=True)
class BadSample:
    """A sample that could not be made, or one with a cell that cannot be used: then the rest of it is read."""

    index: int
    error: str
    name: str = ""
    column: str = ""  # of that cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Boxes:
    """The boxes of one image as they are written down: four numbers each, in a format still to be found out."""

    numbers: Array  # (boxes, 4)
    labels: tuple[object, ...] = ()
    areas: tuple[float | None, ...] = ()  # as they are written beside the boxes
    size: tuple[int, int] | None = None  # width and height of the image
    stored: tuple[int, int] | None = None  # of the file, where another size is written beside the boxes
    turned: bool = False  # the file says that viewers should turn it by a quarter
    in_corners: bool = False  # torch's own name for them says that they are corners in pixels
    declared: str = "xyxy"  # what the file format, or torch, takes the numbers for: two corners, or "xywh"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Consecutive samples."""

    indices: NDArray[np.int64]
    inputs: Mapping[str, Values]  # by name; the only input of a sample has the name ""
    target: Values | None = None
    boxes: Sequence[Boxes] = ()
    bad: Sequence[BadSample] = ()
    owners: Mapping[str, Values] = field(default_factory=dict)  # columns that say whom a sample is about
    numbering: Mapping[str, Array] = field(default_factory=dict)  # columns that only number the rows
    names: Mapping[int, str] = field(default_factory=dict)  # the file of a sample, where the sample itself says it


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One split of the data, readable from its beginning as often as needed."""

    title: str  # "train.csv", "TensorDataset"
    kind: str  # "array", "table", "images", "boxes", and FED
    read_some: Callable[[NDArray[np.int64]], Iterator[Chunk]]
    indices: NDArray[np.int64]  # of the samples to read; empty for a stream, which is read to its end
    size: int | None = None
    features: Mapping[str, Sequence[str]] = field(default_factory=dict)  # names of the columns of an input
    names: Sequence[str] = ()  # the file of each sample
    label: str = ""  # the column taken as the target
    guessed: bool = False  # nobody said that this column is the target, nor does its name
    left_out: Sequence[str] = ()  # columns that only number the rows
    vocabulary: int | None = None  # how many tokens there are, as a file beside the data says
    classes: Sequence[str] = ()  # names of the classes 0, 1, 2 …
    outputs: int | None = None  # how many classes there are, as the file of the data says, or the script's own loss
    ignored: int = -100  # the label that the script's own loss leaves out
    notices: Sequence[str] = ()  # what had to be guessed
    where: Where = field(default_factory=Where)  # where the loader is built, in a script
    margins: NDArray[np.float64] | None = None  # of a training run: the mean lead of each sample's own class
    origin: Any = None  # the user's own Dataset or DataLoader
    write: Callable[[Sequence[int], Path], None] | None = None  # some of its samples into a file of the same format

    def read(self) -> Iterator[Chunk]:
        return self.read_some(self.indices)

    @property
    def fed(self) -> bool:
        return self.kind in FED
