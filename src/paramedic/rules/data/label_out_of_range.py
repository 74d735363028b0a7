"""PM304."""

from collections.abc import Iterator

from paramedic.record.facts import BadLabels, Batch, Ctc, Ended, LossCall, SignedLabels
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.support import by_place, many


@rule("PM304", "label-out-of-range", severity="error")
def check(run: Run) -> Iterator[Finding]:
    """A label is outside the range the loss accepts.

    A class below 0 or beyond the last output; the blank of a CTC loss among its labels; 0 and 1 for a loss that is
    defined for -1 and +1 (`cosine_embedding_loss`, `hinge_embedding_loss`, `soft_margin_loss`, or a hinge written as
    `relu(1 - y * score)`).

    ## Why it hurts
    On a class that has no output the loss fails: on the CPU with an IndexError, on a GPU with a device-side assert that
    names neither the label nor the line. The other two raise no error: a blank cannot be distinguished from "nothing
    here", and samples with label 0 contribute nothing.

    ## What to try first
    Labels must run from 0 to C-1. Labels that start at 1 need `y - 1`; otherwise give the last layer more outputs.
    Keep one output for the blank alone: labels from 1, or `blank=C`. For signed labels: `2 * y - 1`.

    ## When this is wrong
    A hinge of your own is taken for one by its form; where the zeros are a mask, and no label, put the mask outside:
    `mask * relu(1 - score)`. The others never. A single value such as -1 or 255 that marks "no label" is reported as
    PM509 instead.
    """
    if not any(run.facts(kind) for kind in (LossCall, Ctc, SignedLabels)):
        raise Abstain("no loss function of torch was called")
    yield from _blanks(run)
    yield from _unsigned(run)
    found = run.facts(BadLabels)
    if not found:
        yield from _behind_an_assert(run)
        return
    event = found[0]
    low, high, classes = event.min, event.max, event.classes
    starts_at_one = low >= 1 and high == classes
    yield Finding(
        what=f"labels go from {low} to {high}, but the model has {many(classes, 'output')} (0 to {classes - 1}); "
        f"{event.bad} of {event.total} labels in this batch are out of range",
        why="labels seem to start at 1" if starts_at_one else "there is no output for those classes",
        remedy="subtract 1 from the labels"
        if starts_at_one
        else f"map labels to 0 … {classes - 1}, or widen the last layer",
        where=event.where,
        evidence=(
            Evidence(name="min_label", value=low, limit="≥ 0"),
            Evidence(name="max_label", value=high, limit=f"≤ {classes - 1}"),
        ),
        confidence=0.95,
    )


def _blanks(run: Run) -> Iterator[Finding]:
    """The blank of a CTC loss is a class of its own, and no target may hold it."""
    for events in by_place(run.facts(Ctc)).values():
        held = [event for event in events if event.blanks]
        if not held:
            continue
        first, times = held[0], sum(event.count for event in held)
        yield Finding(
            what=f"{first.blanks} of {first.labels} labels in a batch are {first.blank}, the blank of this "
            f"CTC loss ({many(times, 'call')})",
            why="the blank means that nothing is said, so such a label can never be read out again",
            remedy="count labels from 1 and keep 0 for the blank, or give one more output and blank=C",
            where=first.where,
            evidence=(Evidence(name="labels_that_are_blank", value=first.blanks, limit="0"),),
            confidence=0.95,
        )
        return


def _unsigned(run: Run) -> Iterator[Finding]:
    for events in by_place(run.facts(SignedLabels)).values():
        kinds = {event.kind: event for event in events}
        wrong = kinds.get("zero_one")
        if wrong is None or "signed" in kinds or wrong.count < 2:
            continue
        yield Finding(
            what=f"{wrong.function} gets 0 and 1 as labels ({wrong.zeros:.0%} are 0), and never -1",
            why="it is defined for +1 and -1 only: whatever has the label 0 is not pushed to the other side",
            remedy="give it 2 * y - 1",
            where=wrong.where,
            severity="error" if wrong.function.startswith("F.") else "warning",
            evidence=(Evidence(name="share_of_zeros", value=round(wrong.zeros, 4), limit="0"),),
            confidence=0.95,
        )
        return


def _behind_an_assert(run: Run) -> Iterator[Finding]:
    """A device-side assert names no label; the batch it happened on was still on the host."""
    crash = run.first(Ended)
    calls = [c for c in run.facts(LossCall) if c.function in ("cross_entropy", "nll_loss")]
    batches = run.facts(Batch)
    if crash is None or not calls or not batches:
        return
    if not any(word in crash.message for word in ("device-side assert", "CUDA error", "CUBLAS", "cuDNN")):
        return
    classes, ignored = calls[-1].input.shape[1], calls[-1].ignore_index
    size = calls[-1].target.shape
    for tensor in batches[-1].tensors:
        values = tensor.values
        if values is None or tensor.shape != size or not tensor.dtype.startswith(("int", "uint")):
            continue
        low, high = int(values.min), int(values.max)
        if high >= classes or (low < 0 and low != ignored):
            yield Finding(
                what=f"labels of the failing batch go from {low} to {high}, but the model has {classes} outputs",
                why="the device-side assert is the loss refusing a label that has no output",
                remedy=f"map labels to 0 … {classes - 1}, or widen the last layer",
                where=calls[-1].where,
                evidence=(Evidence(name="max_label", value=high, limit=f"≤ {classes - 1}"),),
                confidence=0.93,
            )
            return
