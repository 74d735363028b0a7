"""Facts about losses: the calls, their labels and targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paramedic.record.facts.fact import Fact, fact, part
from paramedic.record.facts.tensors import Tensor
from paramedic.record.site import MadeAt, Site


@part
class LossValues:
    """What went into a loss, in numbers."""

    input_min: float
    input_max: float
    input_mean: float
    input_std: float
    input_nan: float  # how many
    input_inf: float
    input_size: float
    target_min: float
    target_max: float
    target_mean: float
    target_std: float
    target_nan: float
    target_inf: float
    target_size: float
    rows: float  # along the dimension of the classes
    row_sum_min: float
    row_sum_max: float
    row_exp_min: float  # sums of the exponentials
    row_exp_max: float
    row_spread: float
    below_0: float  # share of the targets
    below_minus_1: float
    above_1: float
    target_spread: float
    target_row_min: float  # sums of the targets of one sample
    target_row_max: float
    target_row_filled: float  # most that are not 0


@fact("loss_call", missing="no loss function of torch was called")
class LossCall(Fact):
    """A call of a loss function of torch."""

    function: str
    input: Tensor
    target: Tensor
    reduction: str
    log_target: bool
    smoothing: float
    weighted: bool  # by class or sample
    ignore_index: int | None = None  # of losses of class labels
    log_input: bool | None = None  # of poisson_nll_loss
    maker: str | None = None  # the module that made the input: "net.head (Linear)"
    target_maker: str | None = None
    made_at: MadeAt | None = None  # the call outside of a module that made the input
    built_at: Site | None = None  # the loss module
    reconstructs: bool = False  # the target is what the model was given
    same: bool = False  # input and target are one tensor
    target_shares: int = 0  # parameters behind both
    target_kinds: Sequence[str] = ()  # nodes behind the target
    chosen: bool = False  # the input was picked out of a larger one
    target_name: str | None = None
    class_weights: Sequence[float] = ()  # as far as they are few
    values: LossValues | None = None

    @property
    def numbers(self) -> LossValues:
        """The values, of a call of which they are known to have been read."""
        assert self.values is not None
        return self.values


@fact("pushed", missing="no loss function of torch was trained on")
class Pushed(Fact):
    """The value of a loss function, and which way it is pushed."""

    function: str
    slope: float  # of the whole loss with respect to it
    value: float


@fact("terms", missing="no sum of losses was examined")
class Terms(Fact):
    """The values that were added up to a loss."""

    values: Sequence[float]
    kinds: Sequence[str | None]  # the loss functions that made them
    direct: Sequence[bool] = ()  # whether each is used as it came, not multiplied by anything


@part
class AtTarget:
    """The loss had the answers been the target itself."""

    loss: float
    steepness: float  # of the loss there, in units of that where the answers are


@part
class Optimum:
    """The loss at answers that are as good, and as bad, as they can be."""

    perfect: Sequence[float | None] = ()  # at the target; for labels of 0 and 1, also at scores that are sure of it
    opposite: Sequence[float | None] = ()  # at its opposite
    lowest: float | None = None  # at the best of several random answers; for labels of 0 and 1


@part
class Grouping:
    """The loss at answers that lie together by their labels, several times, and at the same ones dealt out at random.

    If they cost more when together, each time, the loss was followed down its slope from there.
    """

    together: Sequence[float]
    dealt: Sequence[float]
    after: float | None = None  # the loss some steps down its slope,
    apart: float | None = None  # and how many times as wide, next to the distance between them, classes are then


@part
class CallAsked:
    """A call of a model in a step that was run again, and which of its answers the loss uses."""

    model: int  # the same number is the same model
    class_: str
    answers: Sequence[Sequence[int]]  # their shapes
    used: Sequence[bool]


@part
class TargetAsked:
    """A tensor of the step that the loss depends on beside the model's answers; each is exchanged by itself."""

    name: str  # of the variable that holds it
    shape: Sequence[int]
    dtype: str
    paired: bool  # the loss changes when its rows are put into another order
    steers: bool  # what the loss asks of the answers depends on it
    answer: Sequence[int] | None = None  # the shape of the answer that it fits
    kind: str | None = None  # how it fits: "class", "binary" or "value"
    elements: int = 0  # of the answer that the loss moves
    towards: float = 0.0  # the share of them that the loss pulls towards it,
    away: float = 0.0  # and away from it
    further: Sequence[float | None] = ()  # the loss after larger and larger steps of the answers down its slope
    met_at: Site | None = None  # of a suspicious one: where it meets the answers,
    number_at: Site | None = None  # and where that becomes a single number
    at_target: AtTarget | None = None
    optimum: Optimum | None = None
    grouping: Grouping | None = None  # of labels that rows of the only answer share


@fact("step_asked", missing="no step was run again on a copy")
class StepAsked(Fact):
    """One training step, run again on a copy with one thing changed at a time."""

    reason: str | None = None  # why it could not be asked
    round: int = 0
    loss: float | None = None
    same: bool = False  # the loss came out as in training
    answers: Sequence[Sequence[int]] = ()  # shapes of what the model answered
    inputs: Sequence[str] = ()  # variables on which the answers depend
    loaded: Sequence[str] = ()  # variables that hold a part of the loader's last batch
    targets: Sequence[TargetAsked] = ()
    calls: Sequence[CallAsked] = ()
    idle: Sequence[str] = ()  # inputs on which answers depend, but not the loss
    passed_over_at: Site | None = None  # the line that has an answer at hand which the loss does not use


TRIED = (0.01, 0.1, 1.0, 10.0, 100.0)  # parts and multiples of an update


@fact("step_tried", missing="the update of no step was tried on a copy")
class StepTried(Fact):
    """The loss of one batch after parts and multiples of the update that the optimizer made; tried on a copy."""

    reason: str | None = None  # why it could not be tried
    optimizer: int = 0
    passes: int = 0  # backward passes since the step before
    loss: float | None = None  # before the update
    same: bool = False  # the loss came out as in training
    losses: Sequence[float | None] = ()  # after 0.01, 0.1, 1, 10 and 100 times the update; None: not finite
    slope: float | None = None  # of the loss along the update: negative is downhill
    downhill: float | None = None  # the cosine between the update and the way of steepest descent
    size: float | None = None  # of the update, in units of the weights
    towards_zero: float | None = None  # the cosine between the update and the way from the weights to zero


@fact("labels", missing="no class labels were seen")
class Labels(Fact):
    """Class labels as the loss saw them, batch by batch."""

    classes: int
    counts: Mapping[str, int]  # class -> labels
    left_out: int
    guessed: Mapping[str, int]  # class -> largest outputs


@fact("bad_labels", missing="all labels were in range")
class BadLabels(Fact):
    """Class labels that the loss cannot accept."""

    function: str
    classes: int
    ignore_index: int
    total: int
    bad: int  # how many
    min: int
    max: int
    wrong: Sequence[int]  # the lowest and the highest


@fact("no_labels", missing="every batch had labels")
class NoLabels(Fact):
    """A batch without a single label that counts."""

    function: str
    classes: int
    ignore_index: int
    total: int
    reduction: str


@fact("ignored_class", missing="no loss ignores a class that the program has a name for")
class IgnoredClass(Fact):
    """The loss ignores one of its own classes, and this is what the program calls that class."""

    index: int
    name: str
    table: str  # the variable that numbers the classes


@fact("signed_labels", missing="no loss with labels of +1 and -1 is used")
class SignedLabels(Fact):
    """Labels of a loss that wants +1 and -1."""

    function: str
    kind: str  # "signed", "zero_one" or "other"
    zeros: float  # share
    ones: float  # share


@fact("class_target", missing="no class numbers were the target of a distance")
class ClassTarget(Fact):
    """Class numbers as the target of a loss that measures a distance."""

    function: str
    classes: int


@fact("padding", missing="no padded sequences were seen")
class Padding(Fact):
    """Labels that end in padding where the inputs do."""

    value: float  # the label in which rows end
    rows: float
    padded_rows: float
    shortest: float  # run at a row's end
    longest: float
    padding: float  # labels that are padding
    agreeing: float  # of those, how many lie over padding of the inputs
    copied: float  # 1: the labels are the inputs themselves
    ignore_index: int
    total: int
    empty: float = 0.0  # places where the inputs hold an id that is nothing but padding
    covered: float = 0.0  # of those, how many have that label
    begun: float = 0.0  # rows of the inputs whose first id is that label
    marked: float = float("inf")  # rows with one and the same label right before the padding, as an end marker is


@fact("ctc", missing="no CTC loss is used")
class Ctc(Fact):
    """A CTC loss: the lengths of inputs and targets."""

    short: int  # samples with too few steps for their labels
    samples: int
    needed: int
    room: int
    zero_infinity: bool
    blank: int
    blanks: int  # labels that are the blank
    labels: int
    total: float | None = None  # to which the probabilities of a step add up


@part
class LeftOut:
    """The places of a sequence that a loss leaves out."""

    value: float  # the id that they hold most often
    same: float  # share of them that hold it
    inside: float  # share of them before the row's end
    as_label: float  # how often that id is a label


@fact("shift", missing="no labels were compared with token ids")
class Shift(Fact):
    """How many places labels lie behind the token ids."""

    agreement: Mapping[str, float]  # places -> share of labels that agree
    hidden: LeftOut | None = None


@fact("forecast", missing="no target was compared with a series of numbers")
class Forecast(Fact):
    """How many targets are the number that stands in the model's series at the same place, and one place later."""

    same: float  # share
    next: float  # share


@fact("edges", missing="no target has four numbers per row")
class Edges(Fact):
    """Targets of four numbers, read as two corners: the rows in which one edge lies before the other."""

    rows: int
    bad_x: float  # rows that end before they begin
    bad_y: float
    straight_x: float  # sizes of the other rows, added up
    straight_y: float
    turned_x: float  # of those rows
    turned_y: float
    narrowest: float
    mirrored_at: Site | None = None  # the only line of the program that may have turned them


@fact("mirrors", missing="no target is a picture")
class Mirrors(Fact):
    """Whether image targets match as they are, or mirrored."""

    straight: float  # samples that fit best as they are
    mirrored: Mapping[str, float]  # axis -> samples that fit best so
    strangers: float = 0.0  # samples which the target of another one fits, in one way only


@fact("partners", missing="no target is a picture")
class Partners(Fact):
    """Whether image targets match their own image, or that of another sample."""

    looked: int  # samples
    own: float  # whose own target fits as well as any
    elsewhere: float  # which the target of another sample fits far better, and no mirrored one does


@fact("given_target", missing="no target with one number per sample was seen")
class GivenTarget(Fact):
    """Whether a target stands among the inputs."""

    sequence: bool  # the inputs are sequences, and the last step was looked at
    columns: int
    given: bool
    various: float = 1.0  # of the targets, how many differ from all others: few different numbers are classes
