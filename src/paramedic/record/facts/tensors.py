"""Parts of facts that describe tensors."""

from __future__ import annotations

from collections.abc import Sequence

from paramedic.record.facts.fact import part


@part
class Values:
    """What a tensor's values look like; those that are not finite are counted and left out of the rest."""

    min: float
    max: float
    mean: float
    std: float  # of the population
    nan: float  # how many
    inf: float  # how many
    size: float  # elements looked at


@part
class Boxes:
    """Rows of four numbers, read as corners and as sizes."""

    count: int
    bad_corners: int  # empty or turned around, read as x0, y0, x1, y1
    bad_sizes: int  # empty, read as x, y, width, height
    negative: int
    largest: float
    examples: Sequence[Sequence[float]]  # rows with bad corners


@part
class Tensor:
    """What a tensor is, without its values."""

    shape: Sequence[int]
    dtype: str
    device: str  # its type
    requires_grad: bool
    grad_fn: str | None = None  # the class of the node that made it
    path: str = ""  # to it, inside of what it was passed in
    made_by: str | None = None  # the first node behind views and casts
    values: Values | None = None
    hash: str | None = None  # of its content
    boxes: Boxes | None = None


@part
class Measured:
    """A tensor beside an operation that made a bad value: ranges of what is finite, and how much is not."""

    shape: Sequence[int]
    dtype: str
    size: int
    min: float  # NaN when nothing is finite
    max: float
    zeros: int
    negative: int
    nan: int
    inf: int
    rows: Sequence[int]  # the first indices along the first dimension with values that are not finite
