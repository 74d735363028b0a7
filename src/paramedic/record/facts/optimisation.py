"""Facts about optimizers, schedules and the parameters that they train."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paramedic.record.facts.fact import Fact, fact, part
from paramedic.record.site import Site


@part
class Group:
    """A parameter group of an optimizer."""

    weight_decay: float
    momentum: float
    parameters: Sequence[str]
    types: Sequence[str]  # dtypes of the parameters
    strangers: Sequence[Sequence[int]]  # shapes of tensors that no model has
    frozen: int
    lr: float | None = None
    decoupled: bool = False  # the decay is kept out of the gradient, as in AdamW


@fact("optimizer", missing="no optimizer took a step")
class Optimizer(Fact):
    """An optimizer, its groups and whose parameters they hold."""

    number: int
    class_: str
    torchs_own: bool
    groups: Sequence[Group]
    fresh: bool  # it had not stepped before
    held: int  # tensors
    in_models: int  # of those, parameters of models that still exist


@fact("census", missing="no optimizer step was examined")
class Census(Fact):
    """Per parameter: trainable, held, got gradient, moved."""

    optimizer: int
    names: Sequence[str]
    rates: Sequence[float]
    flags: Sequence[int]  # see rules/support.py for the bits
    outside: Mapping[str, int]  # flags of parameters that no optimizer holds and that got a gradient
    lent: Mapping[str, int] | None = None  # number of another optimizer -> parameters that it holds and that got one
    devices: Sequence[str] = ()


@fact("step", missing="no optimizer took a step")
class Step(Fact):
    """An optimizer step."""

    optimizer: int
    gradients: str  # "new", "old", "none" or "untouched"
    scaled: bool  # still multiplied by a GradScaler
    closure: bool
    first: bool


@fact("rates", missing="the run has not ended")
class Rates(Fact):
    """The highest learning rate of each parameter group, and the parameters that were ever updated."""

    optimizer: int
    highest: Sequence[float | None]  # by group; None where the rate is not a number
    used: Sequence[str]


@fact("clip", missing="gradients are not clipped")
class Clip(Fact):
    """A gradient clipping call."""

    function: str
    tensors: int
    with_gradient: int
    covered: int  # tensors with a gradient that an optimizer holds
    optimised_with_gradient: int  # all that an optimizer holds and that have a gradient
    pending: bool  # gradients wait for a step
    stale: bool
    scaled: bool  # still multiplied by a GradScaler
    scale: float
    limit: float | None = None


@fact("scaler", missing="no GradScaler is used")
class ScalerCall(Fact):
    """A GradScaler call."""

    call: str  # "built", "scale", "unscale_", "step" or "update"
    scale: float | None = None  # with which it was built
    growth_interval: int | None = None
    growth_factor: float | None = None
    backoff_factor: float | None = None
    skipped: bool = False  # the step was not taken
    steps_since_update: int = 0


@fact("unscaled_pass", missing="every loss went through the GradScaler, or none is used")
class UnscaledPass(Fact):
    """A loss that went back without the GradScaler, into gradients that another, scaled loss shares."""

    optimizer: int
    scaled_at: Site  # where the scaled one goes back
    scale: float  # with which the scaler began


@fact("scheduler", missing="no learning-rate scheduler is used")
class SchedulerStep(Fact):
    """A learning-rate scheduler's step."""

    class_: str
    before_first_step: bool
    rates: Sequence[float]


@fact("schedule", missing="no scheduler is used, or the run has not ended")
class Schedule(Fact):
    """A learning-rate scheduler: its horizon and how often it stepped."""

    class_: str
    born: Site
    by_library: bool  # a library steps it
    settings: Mapping[str, float]
    calls: int
    written: bool  # never called, although the program has such a line
    inner: int
    steps: int  # of its optimizer
    idle: int
    heir_steps: int
    optimizer: int | None = None
    peak: float = 0.0
    last: float = 0.0
    low_since: int | None = None
    heir: int | None = None  # the optimizer that took over
    first: float | None = None  # the rate that it began with
    target: float | None = None  # the highest rate it is built for, as far as that is known
    told: Sequence[float] = ()  # the numbers that ReduceLROnPlateau was given
    meaning: Sequence[str] | None = None
    mode: str | None = None  # of ReduceLROnPlateau


@fact("symmetry", missing="no optimizer step was examined")
class Symmetry(Fact):
    """Weights whose rows were all alike, and whether they stay so."""

    optimizer: int
    name: str
    rows: int
    zero: bool
    gradient_alike: bool
    gradient_zero: bool
    made_at: Site


@fact("resumed", missing="no optimizer was restored")
class Resumed(Fact):
    """A scheduler made for an optimizer with a restored state."""

    class_: str
    restored: Sequence[float]  # learning rates
    used: Sequence[float]


@fact("forgotten", missing="no optimizer's state was left in its file")
class Forgotten(Fact):
    """An optimizer's state that a resume left in its file."""

    class_: str
    counter: Sequence[str | int]  # the variable that counts on, its value, and the key in the file
    tensors: int
