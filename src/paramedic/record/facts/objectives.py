"""Facts about the parts of an objective: which way they are pushed, and what they are worth."""

from __future__ import annotations

from collections.abc import Sequence

from paramedic.record.facts.fact import Fact, fact, part
from paramedic.record.site import Site

_NONE = "no call was examined"


@part
class _Pushed(Fact):
    """A value and the way in which the loss depends on it."""

    slope: int  # sign
    both_ways: bool  # some of its elements are pushed the other way


@fact("clipped_surrogate", missing=_NONE)
class ClippedSurrogate(_Pushed):
    """The smaller, or larger, of a ratio's product and its clipped twin."""

    which: str  # "min" or "max"


@fact("entropy", missing=_NONE)
class Entropy(_Pushed):
    """The entropy of a distribution."""

    class_: str


@fact("log_prob", missing=_NONE)
class LogProb(_Pushed):
    """The log-probability of an action or a sample."""

    class_: str


@fact("kl_div", missing=_NONE)
class KLDiv(Fact):
    """The value of F.kl_div."""

    value: float
    below: bool  # zero


@fact("divergence", missing=_NONE)
class Divergence(Fact):
    """A term of a loss that is called a divergence."""

    name: str
    value: float
    below: bool  # zero
    closed_form: bool


@fact("quotient", missing=_NONE)
class Quotient(Fact):
    """A number of the loss that is divided by what was made from it, with gradients on both sides."""

    value: float


@fact("overlap_term", missing=_NONE)
class OverlapTerm(Fact):
    """A term of a loss that is called an overlap, such as IoU or Dice."""

    name: str
    slope: int  # sign
    max: float
    between_outputs: bool


@fact("ranked_distance", missing=_NONE)
class RankedDistance(Fact):
    """A distance to a positive or negative example."""

    name: str
    side: str  # "pos" or "neg"
    slope: int  # sign


@fact("advantage_with_graph", missing=_NONE)
class AdvantageWithGraph(Fact):
    """A policy's loss that trains the critic as well, which has a loss of its own."""

    parameters: Sequence[str]
    tensors: int  # how many


@fact("twin_branches", missing=_NONE)
class TwinBranches(Fact):
    """The difference of two tensors with a graph: whether they are the same, number by number."""

    same: bool
    made_at: Site | None = None  # the line that made one of them


@fact("similarity", missing=_NONE)
class Similarity(Fact):
    """Two batches of vectors compared by their angles, sample by sample."""

    both: bool  # gradients flow into both
    partners: float  # the mean cosine of those that are compared
    strangers: float  # of one sample and the next within a batch, on the side where it is lower


@fact("twin_inputs", missing=_NONE)
class TwinInputs(Fact):
    """Two batches of one step, kept under different names, that models were given: whether they are the same."""

    first: str
    second: str
    same: bool
    digest: str


@fact("mixed_reductions", missing=_NONE)
class MixedReductions(Fact):
    """A divergence summed over the batch that is added to a mean over the batch."""

    name: str | None
    samples: int  # of the batch
    weight: float  # of the sum; a mean over the samples would have one over their number


@fact("loss_of_earlier_steps", missing=_NONE)
class LossOfEarlierSteps(Fact):
    """A loss that contains losses which were back-propagated before."""
