"""Facts about single calls inside of models and losses that are worth a note."""

from __future__ import annotations

from collections.abc import Sequence

from paramedic.record.facts.fact import Fact, fact
from paramedic.record.facts.tensors import Tensor
from paramedic.record.site import Site

_NONE = "no call was examined"


@fact("softmax", missing=_NONE)
class Softmax(Fact):
    """A softmax or log_softmax that is trained through."""

    function: str  # "softmax" or "log_softmax"
    shape: Sequence[int]
    dim: int
    size: int  # along that dimension
    implicit: bool  # dim was not given
    products: bool = False  # of scores of queries with keys


@fact("softmax_over_queries", missing=_NONE)
class SoftmaxOverQueries(Fact):
    """Attention weights that were normalised along the queries."""

    dim: int
    shape: Sequence[int]


@fact("dropout", missing=_NONE)
class Dropout(Fact):
    """A call of a dropout function."""

    function: str
    p: float
    training: bool
    explicit: bool  # training was given
    through_module: bool  # a Dropout module made the call
    caller: str | None = None  # the class of the module whose forward made the call
    caller_training: bool | None = None


@fact("overwritten_probability", missing=_NONE)
class OverwrittenProbability(Fact):
    """A dropout probability that a forward pass overwrites on its own module."""

    attribute: str
    before: float
    after: float
    class_: str


@fact("broadcast", missing=_NONE)
class Broadcast(Fact):
    """An arithmetic operation that makes a table of two vectors."""

    symbol: str
    a: Tensor
    b: Tensor
    result: Sequence[int]
    axis_at: Site | None = None  # the line that kept an axis of size one
    answers: bool = False  # of a model without a graph


@fact("constant_term", missing=_NONE)
class ConstantTerm(Fact):
    """A term of a loss that was cut off from the graph."""

    cut: str
    value: float
    cut_file: str | None = None
    cut_line: int | None = None


@fact("flat", missing=_NONE)
class Flat(Fact):
    """A step function: the gradient goes through it, as zero."""

    function: str
    behind: Sequence[str]  # parameters


@fact("drawn", missing=_NONE)
class Drawn(Fact):
    """Random numbers drawn from a distribution whose parameters get no gradient that way."""

    function: str
    behind: Sequence[str]  # parameters


@fact("in_place", missing=_NONE)
class InPlace(Fact):
    """One of the last calls that changed a tensor in place before a backward pass failed because of one."""

    function: str
    shape: Sequence[int]


@fact("carried_state", missing=_NONE)
class CarriedState(Fact):
    """An output of a module that goes into it again after a backward pass."""

    input: str
    class_: str


@fact("normalised_across_samples", missing=_NONE)
class NormalisedAcrossSamples(Fact):
    """F.normalize along the first axis of something that the model computed."""

    shape: Sequence[int]


@fact("cutting_view", missing=_NONE)
class CuttingView(Fact):
    """A reshape inside of a model that puts values of several samples into one row."""

    function: str
    from_: Sequence[int]
    to: Sequence[int]


@fact("scrambling_view", missing=_NONE)
class ScramblingView(Fact):
    """A reshape that mixes up axes instead of moving them."""

    function: str
    from_: Sequence[int]
    to: Sequence[int]
    axes: Sequence[int]  # the sizes that were mixed up
    new_axes: Sequence[int]
    permutation: bool  # the same sizes in another order


@fact("crossed_rows", missing=_NONE)
class CrossedRows(Fact):
    """A loss of rows laid out time by time, against labels laid out sample by sample."""

    function: str
    prediction: Sequence[int]
    target: Sequence[int]


@fact("mask_as_factor", missing=_NONE)
class MaskAsFactor(Fact):
    """A padding mask that was multiplied with numbers and then given to attention."""

    argument: str


@fact("mask_added", missing=_NONE)
class MaskAdded(Fact):
    """A mask of zeros and ones as numbers, which attention adds to its scores."""

    argument: str
    dtype: str


@fact("corners", missing=_NONE)
class Corners(Fact):
    """Boxes that are intersected as corners."""

    boxes: int
    bad_corners: int  # empty or turned around, read as x0, y0, x1, y1
    bad_sizes: int
    example: Sequence[float]
