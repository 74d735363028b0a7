"""Facts about how answers are compared with labels and counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paramedic.record.facts.fact import Fact, fact, part
from paramedic.record.site import Site

_NONE = "no answers were compared with labels"


@fact("answers_compared", missing=_NONE)
class AnswersCompared(Fact):
    """Answers of a model compared with class labels, one with one."""

    how: str  # they were made: "argmax", "round" …
    classes: int


@fact("flat_argmax", missing=_NONE)
class FlatArgmax(Fact):
    """An argmax over a whole batch."""

    shape: Sequence[int]
    labels: int  # that it is compared with


@fact("scores_compared", missing=_NONE)
class ScoresCompared(Fact):
    """The largest scores themselves compared with labels."""

    labels: int


@fact("broadcast_comparison", missing=_NONE)
class BroadcastComparison(Fact):
    """Predictions and labels whose shapes make a table."""

    a: Sequence[int]
    b: Sequence[int]
    result: Sequence[int]


@fact("argmax_across_samples", missing=_NONE)
class ArgmaxAcrossSamples(Fact):
    """An argmax along the first axis."""

    shape: Sequence[int]
    maker: str | None = None  # the module that made the scores


@fact("threshold", missing=_NONE)
class Threshold(Fact):
    """Outputs that are cut at one half although they leave the range of probabilities."""

    how: str
    min: float
    max: float
    maker: str


@fact("wrong_denominator", missing=_NONE)
class WrongDenominator(Fact):
    """A count of right answers that is divided by the size of something else."""

    counter: str
    denominator: str
    divisor: int
    samples: int  # that the counter counts, in one pass
    batches: bool  # the divisor counts batches
    divided_at: Site


@fact("ignored_counted", missing=_NONE)
class IgnoredCounted(Fact):
    """Right answers that were counted, and how many of them stand where the training's loss ignores the label."""

    ignore_index: int
    right: int
    ignored: int


@fact("counter_not_reset", missing=_NONE)
class CounterNotReset(Fact):
    """A count of right answers with which the next pass begins."""

    counter: str
    begins_with: float
    made_at: Site


@fact("metric_not_reset", missing=_NONE)
class MetricNotReset(Fact):
    """A metric object that still held the batches of earlier evaluations when the next one on the same loader began."""

    metric: str  # its class
    updates: int  # batches that it held
    built_at: Site
    unit: str = "batches"  # or "counts": what a meter of the user's was given as their number


@fact("average_of_averages", missing=_NONE)
class AverageOfAverages(Fact):
    """Shares of right answers that are averaged over batches."""

    counter: str
    averaged: float
    true: float  # share over all samples
    last: int  # samples in the last batch
    samples: int
    batches: int


@part
class Scale:
    """Of the values that a model was given."""

    mean: float
    std: float
    standardised: float  # share of the features, or channels, with a mean near zero and a deviation near one


@fact("evaluation_asked", missing="no evaluation of a classifier was asked again on a copy")
class EvaluationAsked(Fact):
    """A batch of an evaluation, answered again with its inputs prepared in other ways."""

    rows: int
    majority: float  # share of the most frequent label: so many answers are right if all are this one
    right: Mapping[str, float | None]  # the preparation, "as it is" among them -> share of right answers
    given: Scale
    trained: Scale  # of a batch of training
