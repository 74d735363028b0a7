"""Facts about values that are not finite, and about tensors without statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paramedic.record.facts.fact import Fact, fact, part
from paramedic.record.facts.tensors import Measured
from paramedic.record.site import Site


@part
class LostConstant:
    """A number in the program that half precision cannot hold."""

    value: float
    dtype: str
    file: str | None = None
    line: int | None = None


@fact("non_finite", missing="all were finite")
class NonFinite(Fact):
    """A loss or gradient that is not finite, and the operation it came from."""

    origin: str  # "op", "parameter", "input", "unknown" …
    reproduced: bool  # the step was run again and gave a bad value, too
    reached: str  # "loss", "gradient" or "evaluation"
    loss_site: Site
    same_loss: bool = False  # the step gave the very same loss again
    loss: float | None = None
    scaled: bool = False  # by a GradScaler
    op: str | None = None
    node: str | None = None  # of the backward pass
    own_backward: bool = False  # a backward() of the user's
    operands: Sequence[Measured] = ()
    result: Measured | None = None
    scalars: Sequence[float] = ()
    inside_model: bool = False
    from_meant_infinities: bool = False
    masked_rows: Sequence[int] | None = None  # of a softmax: rows of nothing but -inf, and all rows
    lost_constant: LostConstant | None = None
    name: str | None = None  # of what was bad before the step began
    outside: Measured | None = None
    met: str | None = None  # in an evaluation: what the value met
    not_run: str | None = None  # why the step was not run again


@fact("poisoned_step", missing="all gradients used were finite")
class PoisonedStep(Fact):
    """An optimizer step with gradients that are not finite."""

    parameters: Sequence[str]  # with bad gradients
    bad: int
    weights_bad: int
    stopped: bool


@fact("edge", missing="no gradient jumped")
class Edge(Fact):
    """A jump of the gradient caused by an operation near its singularity."""

    op: str
    operands: Sequence[Measured]
    scalars: Sequence[float]
    closest: float  # distance to the singularity
    near: int  # values
    size: int
    slope: float
    gradient: float  # norm
    without: float  # norm, without what this operation adds
    leap: float  # factor over all earlier norms


@fact("bundle", missing="no bundle was requested (--bundle-spikes)")
class Bundle(Fact):
    """A step that was kept because its loss or gradient stood out."""

    reason: str
    path: str


@fact("bad_parameter", missing="all weights were finite")
class BadParameter(Fact):
    """Weights that turned non-finite in a step with finite gradients."""

    optimizer: str
    names: Sequence[str]
    bad: int
    dtype: str
    settings: Mapping[str, float]
    state: Mapping[str, Sequence[float]]  # name -> lowest and highest value
    gradients_checked: bool
    gradient: Sequence[float] | None = None  # lowest and highest value


@fact("replay", missing="no bundle was replayed")
class Replay(Fact):
    """A bundle's step that was run again."""

    code: int  # exit code


@fact("not_summarised", missing="every tensor could be summarised")
class NotSummarised(Fact):
    """A tensor without statistics, and why."""

    role: str
    name: str
    reason: str
