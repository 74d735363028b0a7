"""PM304."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.findings import Severity
from paramedic.record.facts import BadLabels, Batch, Ctc, Ended, LossCall, SignedLabels
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.support import by_place, listed, many

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from paramedic.audit.audit import Audit, Split
    from paramedic.audit.chunk import Array


@rule("PM304", "label-out-of-range", severity="error", lasting=True)
def check(run: Run) -> Iterator[Finding]:
    """A label is outside the range the loss accepts.

    A class below 0 or beyond the last output; the blank of a CTC loss among its labels; 0 and 1 for a loss that is
    defined for -1 and +1 (`cosine_embedding_loss`, `hinge_embedding_loss`, `soft_margin_loss`, or a hinge written as
    `relu(1 - y * score)`).

    ## Why it hurts
    If a class has no output, the loss fails: on the CPU with an IndexError, on a GPU with a device-side assert that
    names neither the label nor the line. The other two raise no error: a blank label means "nothing here", and samples
    with label 0 contribute nothing.

    ## What to try first
    Labels must run from 0 to C-1. Labels that start at 1 need `y - 1`; otherwise give the last layer more outputs.
    Reserve one output for the blank: labels from 1, or `blank=C`. For signed labels: `2 * y - 1`.

    ## When this is wrong
    A hand-written hinge is recognised by its form; if the zeros are a mask and not a label, put the mask outside: `mask
    * relu(1 - score)`. The others are never wrong. A single value such as -1 or 255 that marks "no label" is reported
    as PM509 instead.

    ## Options
    In an audit: `rare`: share of the labels below which one beyond a gap is a stray; `samples`: the fewest that are
    judged.
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
    """The blank of a CTC loss is reserved: no target may contain it."""
    for events in by_place(run.facts(Ctc)).values():
        held = [event for event in events if event.blanks]
        if not held:
            continue
        first, times = held[0], sum(event.count for event in held)
        yield Finding(
            what=f"{first.blanks} of {first.labels} labels in a batch are {first.blank}, the blank of this "
            f"CTC loss ({many(times, 'call')})",
            why="the blank stands for no label at all, so such a label can never be decoded",
            remedy="number labels from 1 and reserve 0 for the blank, or add one output and set blank=C",
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
            why="it is defined for +1 and -1 only: samples with label 0 are not pushed to the other side",
            remedy="pass 2 * y - 1",
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
                why="the loss raises the device-side assert because a label has no output",
                remedy=f"map labels to 0 … {classes - 1}, or widen the last layer",
                where=calls[-1].where,
                evidence=(Evidence(name="max_label", value=high, limit=f"≤ {classes - 1}"),),
                confidence=0.93,
            )
            return


# In an audit: the data itself, before any training.
IGNORED = -100  # the value that torch's losses leave out by themselves


def in_data(audit: Audit, *, rare: float = 0.005, samples: int = 50) -> Iterator[Finding]:
    """What the labels alone can show: the number of the model's outputs is not known here."""
    import numpy as np

    from paramedic.audit.dense_labels import between_classes, is_dense, out_of_range

    if is_dense(audit):
        for split in audit.splits:
            yield from out_of_range(split, rare)
            yield from between_classes(split)
        return
    if audit.task.kind != "classification":
        raise Abstain("this is not a classification task")
    for split in audit.splits:
        labels = split.sketch.target.labels
        if labels is None or labels.dtype.kind == "b":
            continue
        if split.sketch.target.names:  # they get their numbers from whoever encodes them
            yield from _misspelt(split)
            continue
        if split.source.fed and labels.dtype.kind == "f":
            continue  # torch takes whole numbers for classes; these are values
        known = labels[np.isfinite(labels)] if labels.dtype.kind == "f" else labels
        if len(known) >= samples:
            yield from _judged(split, known, rare)


def _judged(split: Split, labels: Array, rare: float) -> Iterator[Finding]:
    import numpy as np

    labels = labels.astype(np.int64) if labels.dtype.kind in "iu" else labels  # below 0 a byte is 255
    values, counts = np.unique(labels[labels != IGNORED], return_counts=True)
    if len(values) < 2:
        return
    stray = _stray(values, counts, rare)
    if len(stray):
        yield _strays(split, values, stray)
    elif split.source.outputs is not None and values[-1] >= split.source.outputs:
        known = "the model's outputs number" if split.source.fed else "the number of classes stored with them is"
        yield _finding(
            split,
            f"labels run from {values[0]:g} to {values[-1]:g}, but {known} {split.source.outputs} "
            f"(0 to {split.source.outputs - 1})",
            "labels seem to start at 1" if values[0] == 1 else "there is no output for the last of them",
            "subtract 1 from the labels" if values[0] == 1 else "map the labels to 0 … C-1, or correct that number",
            f"{values[0]:g} to {values[-1]:g}",
            "error" if split.source.fed else "warning",
        )
    elif values[0] == 1 and values[-1] == len(values) and split.name == "train" and split.source.outputs is None:
        yield _finding(
            split,
            f"labels run from 1 to {values[-1]:g}, and no sample has the label 0",
            "torch counts classes from 0: with as many outputs as classes the last label is out of range",
            "subtract 1 from the labels",
            f"1 to {values[-1]:g}",
            "warning" if split.source.fed else "note",
        )
    elif values[0] < 0 and split.name == "train":
        signs = values.tolist() == [-1, 1]
        yield _finding(
            split,
            f"labels run from {values[0]:g} to {values[-1]:g}",
            "cross_entropy fails on a class below 0, with an IndexError or a device-side assert",
            "map -1 and 1 to 0 and 1"
            if signs
            else "map the labels to 0 … C-1, or pass ignore_index=-1 if it marks no label",
            f"{values[0]:g} to {values[-1]:g}",
            "note" if signs or not split.source.fed else "error",
        )


def _misspelt(split: Split) -> Iterator[Finding]:
    """Class names that differ from another one only by a letter, a capital or a space."""
    import numpy as np

    from paramedic.audit.models.spelling import slips

    target = split.sketch.target
    labels = target.labels
    assert labels is not None
    names = list(target.names)
    counts = np.bincount(labels, minlength=len(names))
    typos = slips(dict(zip(names, counts.tolist(), strict=True)))
    if not typos:
        return
    samples = target.samples[np.isin(labels, [target.names[name] for name in typos])].tolist()
    shown = listed([f"{name!r} for {meant!r}" for name, meant in typos.items()], 4)
    yield Finding(
        what=f"{many(len(samples), 'label')} of {split.name} {'is' if len(samples) == 1 else 'are'} misspelt "
        f"({shown}): {split.samples(samples)}",
        why="each spelling becomes a separate class with hardly any samples",
        remedy=f"labels = labels.replace({dict(list(typos.items())[:4])!r})",
        evidence=(Evidence(name="misspelt_labels", value=dict(typos), limit="none"),),
        confidence=0.92,
        severity="warning",
        split=split.name,
        samples=tuple(samples),
        columns=(split.source.label,) if split.source.label else (),
    )


def _stray(values: Array, counts: Array, rare: float) -> Array:
    """Rare labels beyond a gap in an otherwise unbroken sequence that starts at 0 or 1."""
    import numpy as np

    if not np.all(values == np.round(values)):
        return values[:0]
    usual = values[counts > max(3, rare * counts.sum())]
    if len(usual) < 2 or usual[0] not in (0, 1) or usual[-1] - usual[0] + 1 != len(usual):
        return values[:0]
    low, high = usual[0] - 1, usual[-1] + 1
    while high in values:  # rare labels that go on without a gap are classes as well
        high += 1
    return np.asarray(values[(values < low) | (values > high) | (values < 0)])


def _strays(split: Split, values: Array, stray: Array) -> Finding:
    import numpy as np

    target = split.sketch.target
    labels: Array | None = target.labels
    assert labels is not None
    samples: NDArray[np.int64] = target.samples[np.isin(labels, stray)]
    usual = values[~np.isin(values, stray)]
    return Finding(
        what=f"{many(len(samples), 'sample')} of {split.name} have a label such as {stray[0]:g}, while all others are "
        f"between {usual[0]:g} and {usual[-1]:g}: {split.samples(samples.tolist())}",
        why="there is probably no output for it, and cross_entropy fails on the batch that contains it",
        remedy="correct or drop these samples",
        evidence=(Evidence(name="label", value=float(stray[0]), limit=f"{usual[0]:g} to {usual[-1]:g}"),),
        confidence=0.93,
        severity="error" if split.source.fed else "warning",
        split=split.name,
        samples=tuple(samples.tolist()),
    )


def _finding(split: Split, what: str, why: str, remedy: str, value: str, severity: Severity) -> Finding:
    return Finding(
        what=what,
        why=why,
        remedy=remedy,
        evidence=(Evidence(name="labels", value=value, limit="0 to C-1"),),
        confidence=0.85,
        severity=severity,
        split=split.name,
    )
