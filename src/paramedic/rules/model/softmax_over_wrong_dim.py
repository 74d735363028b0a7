"""PM414."""

from collections.abc import Iterator, Sequence

from paramedic.record.facts import Asked, Backward, Batch, Forward, Loader, LossCall, Softmax, SoftmaxOverQueries
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import shape
from paramedic.static.program import program
from paramedic.static.widths import one_is_a_setting


@rule("PM414", "softmax-over-wrong-dim", severity="error", coverage=[Backward], causes=["PM413", "PM108"], lasting=True)
def check(run: Run) -> Iterator[Finding]:
    """A softmax over the batch, over a dimension with a single entry, or over the queries of an attention.

    ## Why it hurts
    Over the batch, the samples compete with each other: a sample's output depends on the rest of its batch and changes
    when it is evaluated alone. Over one entry the result is always 1, and no gradient passes. Over the queries, the
    attention weights of one query do not sum to 1: a position gets more or less depending on the others.

    ## What to try first
    `dim=-1` for classes or attention over the last axis; look at the shape printed here and choose the axis whose
    entries should sum to 1. For a single output use a sigmoid.

    ## When this is wrong
    Softmax over the first axis is right if that axis is not the batch (time first, nodes of one graph, a square
    similarity matrix). Only a first axis as long as the batch, in an input that is not square, is reported; if the
    second axis could be the batch as well, only if a copy of the model was seen to mix samples. If queries compete for
    keys on purpose, normalise the weights again over the keys: then nothing is reported. Attention heads, (batch,
    heads, queries, keys), may have a single key: its value is passed through. A width that is a setting and was set to
    1, such as a mixture of one component, is a note.
    """
    yield from _over_queries(run)
    batch, second, mixed = _batch_sizes(run), _second_sizes(run), _mixed_samples(run)
    classes = {call.input.shape[1] for call in run.facts(LossCall) if _wants_log_probabilities(call)}
    calls = run.facts(Softmax)
    grows = {(op.where.file, op.where.line) for op in calls if op.size > 1}
    for op in calls:
        sizes, chosen = op.shape, False
        if op.size == 1 and op.products and op.dim == 3:
            continue  # heads that attend to a single key: its value is passed on, and that is learnt
        if op.size == 1 and _count(sizes) > 1 and (op.where.file, op.where.line) not in grows:
            told = f"over dimension {op.dim} of {shape(sizes)}, which has a single entry"
            why = "the softmax of one number is 1, so the output is constant and nothing can be learnt through it"
            chosen = one_is_a_setting(program(run), op.where)
        elif (
            op.dim == 0
            and len(sizes) > 1
            and sizes[0] in batch - {1, sizes[1]}
            and (sizes[1] not in second or sizes[0] in mixed)
        ):
            told = f"over dimension 0 of {shape(sizes)}, the batch of {sizes[0]} samples"
            why = "samples compete with each other: a sample's output depends on the rest of its batch"
        elif op.function == "log_softmax" and op.dim == 0 and len(sizes) == 2 and sizes[1] in classes:
            told = f"over dimension 0 of {shape(sizes)}, but nll_loss reads {sizes[1]} classes from dimension 1"
            why = "the probabilities of a sample do not sum to 1: samples compete with each other, not classes"
        else:
            continue
        choice = " (dim was not given, so torch chose it)" if op.implicit else ""
        yield Finding(
            what=f"{op.function} runs {told}{choice}",
            why=why,
            remedy=f"use dim=-1 or the axis whose entries should sum to 1; shape here: {shape(sizes)}",
            where=op.where,
            evidence=(
                Evidence(name="dim", value=op.dim),
                Evidence(name="shape", value=shape(sizes)),
                Evidence(name="size", value=op.size, limit="≥ 2" if op.size == 1 else "not the batch"),
            ),
            confidence=0.95,
            severity="note" if chosen else None,
        )


def _over_queries(run: Run) -> Iterator[Finding]:
    for op in run.facts(SoftmaxOverQueries):
        yield Finding(
            what=f"softmax over dimension {op.dim} of {shape(op.shape)}, but the sum runs over the last one",
            why="each column sums to 1, but a query uses a row, whose weights do not",
            remedy="use dim=-1: the axis that the product with the values sums over",
            where=op.where,
            evidence=(
                Evidence(name="dim", value=op.dim, limit="-1"),
                Evidence(name="shape", value=shape(op.shape)),
            ),
            confidence=0.9,
        )
        return


def _batch_sizes(run: Run) -> set[int]:
    """First sizes shared by a model's input and the loss's target; sequences may be flattened for the loss."""
    targets = {call.target.shape[0] for call in run.facts(LossCall) if call.target.shape}
    loaded = {t.shape[0] for e in run.facts(Batch) for t in e.tensors if t.shape}
    given = [t.shape for e in run.facts(Forward) for t in e.inputs if t.shape]
    inputs = {sizes[0] for sizes in given}
    flattened = {sizes[0] for sizes in given if len(sizes) == 2 and sizes[0] * sizes[1] in targets}
    return (inputs & targets) | flattened if targets else loaded & inputs


def _second_sizes(run: Run) -> set[int]:
    """Second sizes that inputs and targets have in common, which may be the batch if time comes first."""
    loaded = {loader.batch_size for loader in run.facts(Loader)}
    targets = {call.target.shape[1] for call in run.facts(LossCall) if len(call.target.shape) > 1}
    inputs = [t.shape for e in run.facts(Forward) for t in e.inputs if len(t.shape) > 1]
    flat = {call.target.shape[0] for call in run.facts(LossCall) if len(call.target.shape) == 1}
    either = [sizes for sizes in inputs if sizes[1] in targets or sizes[0] * sizes[1] in flat]
    return {sizes[1] for sizes in either if sizes[0] not in loaded}


def _mixed_samples(run: Run, *, visibly: float = 1e-3, rounding: float = 1e-5) -> set[int]:
    """Sizes of batches whose rows are samples, by test: reordered, they get the same outputs, and these depend on each
    other. The steps of a sequence would not give the same outputs."""
    asked = [event for event in run.facts(Asked) if event.mixing and event.row and event.size]
    return {
        event.size or 0 for event in asked
        if event.mixing and event.mixing.gap > visibly and not event.mixing.apart
        and event.row and event.row.gap < rounding
    }  # fmt: skip


def _wants_log_probabilities(call: LossCall) -> bool:
    return call.function == "nll_loss" and len(call.input.shape) == 2


def _count(sizes: Sequence[int]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total
