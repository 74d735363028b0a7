"""PM616."""

from collections.abc import Iterator
from statistics import median

from paramedic.findings import Where
from paramedic.record.facts import (
    ArgmaxAcrossSamples,
    AverageOfAverages,
    BroadcastComparison,
    CounterNotReset,
    EvalForward,
    FlatArgmax,
    Forward,
    IgnoredCounted,
    Labels,
    Loader,
    LossCall,
    MetricNotReset,
    ScoresCompared,
    Threshold,
    TrainForward,
    WrongDenominator,
)
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.lines import edited_at
from paramedic.rules.support import at, by_place, listed, shape
from paramedic.static.blocks import keeps_answers_alone, loop_around
from paramedic.static.exponentials import averaged_exponential
from paramedic.static.program import program

Wrong = FlatArgmax | ScoresCompared | BroadcastComparison


@rule("PM616", "biased-metric", severity="warning", coverage=[Forward])
def check(run: Run, *, far: float = 0.05, off: float = 1.25) -> Iterator[Finding]:
    """A metric compares predictions with labels in the wrong way.

    - `argmax()` without `dim` gives one index for the whole batch, and `argmax(0)` one sample for each class.
    - `torch.max(logits, 1)` returns the largest scores first, and these are compared instead of their indices.
    - Predictions of shape (N, 1) are compared with labels of shape (N,), which compares each with every other.
    - Logits are thresholded at 0.5, as if they were probabilities.
    - Correct predictions are counted, then divided by the number of batches, or by the size of another split.
    - Positions that the loss ignores (padding) count as correct predictions.
    - Per-batch accuracies are averaged, so a short last batch counts as much as a full one.
    - The counter of correct predictions is not reset before the next pass over the same data, or a metric object
      (torchmetrics, or a meter class of the script with a method that resets it) is not.
    - The perplexity of each batch is averaged (a note): perplexity is the exponential of the mean loss. The mean of
      exponentials is larger, more so for smaller batches.
    - Predictions for a shuffled loader are collected without its labels (a note): labels from elsewhere are in a
      different order.

    ## Why it hurts
    The metric is meaningless: with a flat argmax at most one sample can be right, and with N × N comparisons the
    accuracy depends on how often each class occurs. Models are still selected by it.

    ## What to try first
    `logits.argmax(dim=1) == labels`; `pred.squeeze(1) == labels` or `pred.eq(labels.view_as(pred))`; `logits > 0`, or
    `torch.sigmoid(logits) > 0.5`. Count the labels where the correct predictions are counted, and divide by that; reset
    both to 0 inside the epoch loop.

    ## When this is wrong
    When every prediction should be compared with every label: write both with two dimensions, as in `a[:, None] ==
    b[None, :]`. When 0.5 is a threshold chosen for logits: give it a name. An average over batches is reported only if
    it is far off.

    ## Options
    `far`: how far an average over batches must typically be off to be reported; `off`: factor by which a denominator
    must differ from the samples counted: a short last batch may be dropped.
    """
    yield from _across(run)
    yield from _logits_at_one_half(run)
    yield from _denominators(run, off)
    yield from _ignored(run)
    yield from _not_reset(run)
    yield from _metrics_not_reset(run)
    yield from _averages(run, far)
    yield from _without_labels(run)
    yield from _exponentials(run)
    wrong: list[Wrong] = [*run.facts(FlatArgmax), *run.facts(ScoresCompared), *run.facts(BroadcastComparison)]
    yield from map(_compared, sorted(wrong, key=lambda op: op.id))


def _compared(op: Wrong) -> Finding:
    if isinstance(op, FlatArgmax):
        return Finding(
            what=f"argmax over all of {shape(op.shape)} gives one index, which is compared with {op.labels} labels",
            why="without dim, argmax searches the whole batch",
            remedy="argmax(dim=1), or the class dimension",
            where=op.where,
            evidence=(Evidence(name="predictions", value=1, limit=f"{op.labels} labels"),),
            confidence=0.95,
        )
    if isinstance(op, ScoresCompared):
        return Finding(
            what=f"the largest scores themselves are compared with {op.labels} labels",
            why="torch.max(x, dim) returns the values first and their indices, the predicted classes, second",
            remedy="take the second: _, pred = torch.max(logits, 1), or pred = logits.argmax(1)",
            where=op.where,
            evidence=(Evidence(name="compared", value="scores", limit="class numbers"),),
            confidence=0.96,
        )
    return Finding(
        what=f"predictions {shape(op.a)} are compared with labels {shape(op.b)}: {shape(op.result)} comparisons",
        why="the shapes broadcast, so every prediction is compared with every label",
        remedy="give both the same shape: pred.squeeze(1) == labels, or labels.view_as(pred)",
        where=op.where,
        evidence=(Evidence(name="comparisons", value=shape(op.result), limit=shape(op.b)),),
        confidence=0.93,
    )


def _across(run: Run) -> Iterator[Finding]:
    """The loss shows on which axis the classes of this output are; the argmax runs over the samples.

    If scores are always square, as for images and their texts, both axes are valid.
    """
    trained = {
        (call.maker, len(sizes), sizes[1])
        for call in run.facts(LossCall, phase="train")
        if call.function in ("cross_entropy", "nll_loss")
        and call.maker
        and len(sizes := call.input.shape) > 1
        and sizes[0] != sizes[1]
    }
    for op in run.facts(ArgmaxAcrossSamples):
        if (op.maker, len(op.shape), op.shape[1]) not in trained:
            continue
        yield Finding(
            what=f"argmax over the first axis of {shape(op.shape)} is compared with labels, but the loss has the "
            f"{op.shape[1]} classes on the second",
            why="for each class it gives the sample with the highest score; the shapes match by chance",
            remedy="argmax(dim=1)",
            where=op.where,
            evidence=(Evidence(name="axis", value=0, limit="1"),),
            confidence=0.95,
        )


def _logits_at_one_half(run: Run) -> Iterator[Finding]:
    trained = [
        call
        for call in run.facts(LossCall, phase="train")
        if call.function == "binary_cross_entropy_with_logits" and call.maker and not call.made_at
    ]
    told: set[object] = set()
    for op in run.facts(Threshold):
        place = (op.where.file, op.where.line)
        if place in told or not any(call.maker == op.maker for call in trained):
            continue
        told.add(place)
        done = "rounded" if op.how == "round" else "compared with 0.5"
        yield Finding(
            what=f"logits of {op.maker} are {done} as if they were probabilities; they go from {op.min:.3g} to "
            f"{op.max:.3g}",
            why="binary_cross_entropy_with_logits trains logits, where a probability of 50 % is 0; a logit of 0.5 is "
            "62 %",
            remedy="compare logits with 0, or torch.sigmoid(logits) with 0.5",
            where=op.where,
            evidence=(
                Evidence(name="output_min", value=op.min, limit="≥ 0"),
                Evidence(name="output_max", value=op.max, limit="≤ 1"),
            ),
            confidence=0.9,
        )


def _denominators(run: Run, off: float) -> Iterator[Finding]:
    for op in run.facts(WrongDenominator):
        many, by = op.samples, op.divisor
        if max(many, by) <= off * min(many, by):
            continue
        what = f"{op.counter} counts correct predictions among {many:,} samples, but is divided by {op.denominator} = "
        what += f"{by:,}" + (" batches" if op.batches else "")
        best = f"if every prediction were right, the result would be {many / by:.3g}, not 1"
        yield Finding(
            what=what,
            why=best,
            remedy="divide by the number of labels compared: total += len(labels)",
            where=at(op, op.divided_at),
            evidence=(Evidence(name="divisor", value=by, limit=f"{many:,} samples"),),
            confidence=0.93,
        )


def _ignored(run: Run, *, share: float = 0.02, fewest: int = 20) -> Iterator[Finding]:
    """The loss leaves labels out, and answers that equal them are counted all the same."""
    if not any(labels.left_out for labels in run.facts(Labels, phase="train")):
        return
    for looks in by_place(run.facts(IgnoredCounted)).values():
        right, ignored = sum(look.right for look in looks), sum(look.ignored for look in looks)
        if ignored < fewest or ignored < share * right:
            continue
        label = looks[0].ignore_index
        yield Finding(
            what=f"{ignored:,} of {right:,} right answers that are counted here are padding: their label is {label}, "
            "which the loss ignores",
            why="nobody has to find them, so the number is too high, the more so the more padding there is",
            remedy=f"count real positions alone: real = labels != {label}; (pred == labels)[real].sum() / real.sum()",
            where=looks[0].where,
            evidence=(Evidence(name="share_of_padding", value=round(ignored / right, 4), limit="0"),),
            confidence=0.93,
        )
        return


def _not_reset(run: Run) -> Iterator[Finding]:
    for op in run.facts(CounterNotReset):
        yield Finding(
            what=f"{op.counter} is {op.begins_with:g} when the next pass over the same data starts",
            why="correct predictions of earlier epochs count again, so the accuracy is a mean over all epochs",
            remedy=f"set {op.counter} to 0 inside the epoch loop, before each pass",
            where=at(op, op.made_at),
            evidence=(Evidence(name="count_at_the_start", value=op.begins_with, limit="0"),),
            confidence=0.9,
        )


def _metrics_not_reset(run: Run) -> Iterator[Finding]:
    found = {event.id: event for event in run.facts(MetricNotReset)}
    if not found:
        return
    op = next(iter(found.values()))
    names = listed(sorted({event.metric for event in found.values()}))
    yield Finding(
        what=f"{names} still held {op.updates:,} {op.unit} of earlier evaluations when the next evaluation on the same "
        "data started",
        why="the result is a mean over all evaluations so far, so it lags behind the model",
        remedy="call reset() on the metric before each evaluation, or right after compute()",
        where=op.where,
        also=(Where(file=op.built_at.file, line=op.built_at.line),),
        evidence=(Evidence(name=f"{op.unit}_at_the_start", value=op.updates, limit="0"),),
        confidence=0.93,
    )


def _averages(run: Run, far: float) -> Iterator[Finding]:
    """A short last batch is common and mostly harmless: what matters is how far the metric is off."""
    found = run.facts(AverageOfAverages)
    if not found or median(abs(op.averaged - op.true) for op in found) < far:
        return
    op = found[-1]
    weight = f"the last {op.last} of {op.samples:,} samples count for 1/{op.batches} of it"
    yield Finding(
        what=f"{op.counter} averages over batches: {op.averaged:.3f}; over all samples it is {op.true:.3f}",
        why=f"the last batch is short: {weight}",
        remedy="sum the correct predictions and divide by the number of samples",
        where=op.where,
        evidence=(Evidence(name="off_by", value=round(op.averaged - op.true, 4), limit=f"< {far:g}"),),
        confidence=0.9,
    )


def _without_labels(run: Run) -> Iterator[Finding]:
    """The loader shuffles, and the loop keeps predictions but not labels: any later comparison uses other labels."""
    trained = {call.loader for call in run.facts(TrainForward)}
    shuffled = {loader.number: loader for loader in run.facts(Loader) if loader.sampler == "RandomSampler"}
    code, told = program(run), set(trained)
    for call in run.facts(EvalForward):
        loader = shuffled.get(call.loader) if call.loader is not None and call.loader not in told else None
        scope = code.scope(call.where.file, call.where.line) if loader is not None else None
        loop = loop_around(scope, call.where.line) if scope is not None and call.where.line is not None else None
        if loader is None or loop is None or not keeps_answers_alone(loop):
            continue
        told.add(loader.number)
        yield Finding(
            what=f"{loader.variable or loader.dataset} is shuffled, and predictions are collected without their labels",
            why="labels from elsewhere, such as the dataset's own, are in a different order",
            remedy="shuffle=False for the evaluation, or collect the labels of the same batches as well",
            where=loader.where,
            also=(call.where,),
            evidence=(Evidence(name="sampler", value=loader.sampler, limit="SequentialSampler"),),
            confidence=0.8,
            severity="note",
        )


def _exponentials(run: Run) -> Iterator[Finding]:
    calls = [c for c in run.facts(LossCall, phase="eval") if c.function in ("cross_entropy", "nll_loss")]
    for call in calls[:1]:
        link = averaged_exponential(program(run), call.where)
        if link is None:
            continue
        yield Finding(
            what="the exponentials of the batch losses are averaged",
            why="perplexity is the exponential of the mean loss over all tokens; a mean of exponentials is larger and "
            "depends on the batch size",
            remedy="sum the losses weighted by their tokens, and take math.exp(total / tokens) once at the end",
            **edited_at(call.where, link),
            evidence=(Evidence(name="function", value=call.function),),
            confidence=0.85,
            severity="note",
        )
