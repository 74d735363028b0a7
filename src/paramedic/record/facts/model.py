"""Facts about models: what they consist of, how they are called, what they answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from paramedic.record.facts.fact import Fact, fact, part
from paramedic.record.facts.tensors import Tensor
from paramedic.record.site import Site


@part
class ModulePart:
    """A module inside of a model."""

    path: str
    class_: str
    own_parameters: Sequence[str]  # trainable ones of the module itself
    children: int
    file: str | None  # of the line that made it
    line: int | None
    container: bool  # a ModuleList, Sequential or ModuleDict
    norm: bool = False  # BatchNorm


@part
class ParameterPart:
    """A parameter of a model."""

    name: str
    shape: Sequence[int]
    numel: int
    dtype: str
    requires_grad: bool
    optimizer: int | None = None  # the number of the one that holds it


@fact("model", missing="no nn.Module with parameters was seen")
class Model(Fact):
    """A module tree with its parameters."""

    name: str
    class_: str
    modules: Sequence[ModulePart]
    repeated: Sequence[Sequence[str]]  # pairs of paths to the same module
    parameters: Sequence[ParameterPart]
    handed_over: Sequence[str] = ()  # repeated modules that their holders were given as arguments


@fact("hidden", missing="no nn.Module was seen")
class Hidden(Fact):
    """Modules or parameters reachable from a model but not registered."""

    class_: str
    first: str  # path of the first member
    members: int
    is_module: bool
    derived: bool  # made of a registered parameter
    parameters: int
    numel: int
    trainable: int
    in_optimizer: int
    with_gradient: int


@fact("hidden_moved", missing="no hidden tensor was changed")
class HiddenMoved(Fact):
    """Hidden tensors that the program itself has changed."""


@fact("forward", missing="no nn.Module was called")
class Forward(Fact):
    """A call of a top-level module."""

    inputs: Sequence[Tensor]
    training: bool
    grad: bool  # whether gradients were on


@part
class ModePart:
    """A module that behaves differently in train() and eval()."""

    path: str
    class_: str
    training: bool
    trainable: bool
    norm: bool
    weights: bool | None = None  # whether it has parameters of its own


@part
class _Settled(Fact):
    """What is known of a model's call once its outputs were used."""

    training: bool
    grad: bool  # whether gradients were on
    moody: Sequence[ModePart]
    uses: Sequence[str]  # what became of the outputs: "loss", "metric", "training"
    loader: int | None = None  # the loader whose batch went in
    repeated: bool = False
    drew: bool = False  # random numbers
    borrowed: bool = False


@fact("train_forward", missing="no forward pass led to a backward()")
class TrainForward(_Settled):
    """A call whose output was back-propagated."""


@fact("eval_forward", missing="no evaluation was seen")
class EvalForward(_Settled):
    """A call whose output was only measured."""


@fact("module_call", missing="no nn.Module was called")
class ModuleCall(Fact):
    """A sub-module's first examined call."""

    class_: str
    order: int  # of the call among all
    training: bool
    grad: bool  # whether gradients were on
    trainable: int  # parameters of its own that want gradients
    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]
    p: float | None = None  # of dropout
    cut: Site | None = None  # the line that ended the gradient's path inside
    built_in: str | None = None  # the module whose forward made it
    norm: bool = False  # BatchNorm
    dropout: bool = False


@fact("offered", missing="no module gave several answers")
class Offered(Fact):
    """A part of a module that makes an answer beside others."""

    by: str


@part
class AttentionHead:
    """The weights of one head. Even weights on all visible keys have entropy 1 and diagonality 0."""

    entropy: float  # 0 where each query looks at one key
    diagonality: float  # 1 where each query looks at the key of its own position
    map: str  # grey levels in base64, row by row: 255 is the largest weight of its row


@fact("attention", missing="no attention was seen")
class Attention(Fact):
    """What attention looked at, in one sample of a batch."""

    kind: str  # who computed it: "MultiheadAttention", "scaled_dot_product_attention", "softmax and matmul"
    heads: Sequence[AttentionHead]
    of: int  # heads in all
    queries: int
    keys: int
    rows: int  # of each map


@fact("contract", missing="no declared shape was broken")
class Contract(Fact):
    """A declared shape that a call did not keep."""

    name: str  # of the argument, or "return"
    how: str  # "annotation", "comment" or "contract"
    declared: Sequence[str]
    got: Sequence[int]
    broken: str  # in words
    forward: Site  # the function that declares it
    class_: str | None = None
    function: str | None = None


@part
class Layer:
    """An affine layer."""

    class_: str
    in_: int
    out: int
    kernel: int
    groups: int


@fact("chain", missing="no two affine layers follow each other")
class Chain(Fact):
    """An affine layer that got another one's output as it was."""

    first: str
    first_layer: Layer
    second_layer: Layer


@fact("mode", missing="train() and eval() were never called")
class Mode(Fact):
    """A train() or eval() switch."""

    training: bool
    class_: str
    address: int = 0  # identity of the module


@fact("freeze", missing="requires_grad was never changed")
class Freeze(Fact):
    """A change of requires_grad, or an attempt at one."""

    target: str  # "module", "parameter", "copy", "misspelt" or "nothing"
    value: bool
    names: Sequence[str]
    tensors: int  # how many
    now: int | None = None  # how many of them want gradients now
    attribute: str | None = None  # the misspelt name


@part
class Mixing:
    """Whether the answers for one half of a batch depend on the other half."""

    gap: float  # in units of the outputs' size
    module: str | None = None  # after which it shows
    apart: bool = False  # samples do not meet along the second dimension
    site: Site | None = None  # the line of the first operation that mixes them


@part
class Row:
    """Whether an answer depends on the row in which its sample lies."""

    gap: float  # in units of the outputs' size
    site: Site | None = None
    astray: int | None = None  # samples of a few whose answer stands in another row; None: their answers are no others


@part
class Company:
    """Whether an answer depends on padding that only other samples need."""

    gap: float  # in units of the outputs' size
    uneven: float  # the same, without what all answers have in common
    width: int
    cut: int  # places that were cut off
    told: bool  # an input says what is padding
    declared: bool  # an Embedding has it as its padding_idx
    value: int | None = None  # the padding id
    read_at: Site | None = None  # the line that takes the last place of every row


class Lost(NamedTuple):
    """The line of forward() that overwrites what another line has made of an input."""

    file: str
    line: int
    function: str
    begun: int  # the other line


@fact("asked", missing="no copy of the model was probed")
class Asked(Fact):
    """The outputs of a copy of the model for changed batches."""

    reason: str | None = None  # why it could not be asked
    round: int = 0
    names: Sequence[str] = ()  # of forward's arguments
    mask_left_out: str | None = None
    mixing: Mixing | None = None
    present: float | None = None  # by how much an output changes with the token at its own place
    row: Row | None = None
    padding: Company | None = None
    ignored: Mapping[str, bool] | None = None  # path of an input -> without any influence
    future: float | None = None  # by how much an output changes with later tokens
    future_at: Site | None = None
    future_mask: Site | None = None
    later_numbers: float | None = None  # by how much an output of a model of series changes with later numbers
    later_numbers_at: Site | None = None
    size: int | None = None  # samples in the batch
    mixed_by: str | None = None  # the class of the module that mixes samples
    batch_first: bool | None = None
    built_at: Site | None = None
    lost: Mapping[str, Lost] | None = None  # path -> the line that makes the input of no use


@fact("units", missing="no activation function was seen")
class Units(Fact):
    """How many units of an activation fired, or were pinned."""

    op: str  # "relu", "sigmoid" or "tanh"
    units: int
    call: int  # its number among those of this line and module
    since: int  # the step from which on units were counted
    samples: int
    alive: int
    pinned: float  # share of values at the ends of the range


@fact("copy", missing="no copy of a trained model was evaluated")
class Copy(Fact):
    """A copy of the trained model at an evaluation, and its source, as sums of absolute values."""

    parameters: float
    buffers: float
    source_parameters: float
    source_buffers: float
    batches: float  # that its BatchNorm layers have seen
    source_batches: float
    off: float
    source: str
    evaluated: Site
    written: bool  # every parameter was written after the copy was made
    buffers_written: bool = False  # by the program, at the line of this fact


@fact("average", missing="no copy of a trained model was seen")
class Average(Fact):
    """How far the averaged copy moved towards the model in a step."""

    source: str
    backwards: bool
    kind: str  # "moved" or "still"; older records name the part of the way
    share: float  # of the way


@fact("way_gone", missing="no model was evaluated between steps")
class WayGone(Fact):
    """The weights of an evaluation: how much of the way that the trained ones have gone since the start."""

    source: str  # the model that is trained; the evaluated one may be itself
    share: float
    way: float  # of the trained ones, in units of their size
    coarse: bool = False  # 16 bits hold the evaluated values exactly, but not the trained ones
    updated: Site | None = None  # where a tensor of low precision is updated


@fact("stillness", missing="no copy of the trained model was called")
class Stillness(Fact):
    """A copy of the trained model that is called in every step: whether it is other than it was first seen."""

    source: str
    moved: bool


@fact("set_back", missing="no trained model loaded its copy's weights")
class SetBack(Fact):
    """A trained model that loaded the weights of its copy."""

    copy: str
    used: bool  # the copy is called in every step
    sum: float


@fact("teacher", missing="no frozen model answers in train mode")
class Teacher(Fact):
    """A frozen model that gives answers in train mode."""

    moved: bool  # its statistics
    norms: int


@fact("norm_drift", missing="no BatchNorm layer with frozen weights is in train mode")
class NormDrift(Fact):
    """BatchNorm layers with frozen weights in train mode: how far their running means have gone since they froze."""

    norms: int
    furthest: float  # of them, in standard deviations: the mean over its channels


@fact("autocast", missing="autocast is not used")
class Autocast(Fact):
    """A part of the training that computes in half precision."""

    dtype: str
    device: str


@fact("cast", missing="no model was converted")
class Cast(Fact):
    """A model converted to another floating-point type."""

    dtype: str
