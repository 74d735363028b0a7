"""PM304 in data: class numbers that do not run from 0 to C-1."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.audit import Audit, Split
from paramedic.audit.checks.check import check
from paramedic.audit.checks.dense_labels import between_classes, is_dense, out_of_range
from paramedic.audit.chunk import Array
from paramedic.audit.models.spelling import slips
from paramedic.findings import Evidence, Finding, Severity
from paramedic.rules.rule import Abstain
from paramedic.rules.support import listed, many

IGNORED = -100  # the value that torch's losses leave out by themselves
RARE = 0.005
FEWEST = 50


@check("PM304")
def label_out_of_range(audit: Audit) -> Iterator[Finding]:
    """What the labels alone can tell: the number of the model's outputs is not known here."""
    if is_dense(audit):
        for split in audit.splits:
            yield from out_of_range(split)
            yield from between_classes(split)
        return
    if audit.task.kind != "classification":
        raise Abstain("this is not a classification")
    for split in audit.splits:
        labels = split.sketch.target.labels
        if labels is None or labels.dtype.kind == "b":
            continue
        if split.sketch.target.names:  # they get their numbers from whoever encodes them
            yield from _misspelt(split)
            continue
        if split.source.fed and labels.dtype.kind == "f":
            continue  # torch takes whole numbers for classes; these are values
        yield from _judged(split, labels[np.isfinite(labels)] if labels.dtype.kind == "f" else labels)


def _judged(split: Split, labels: Array) -> Iterator[Finding]:
    labels = labels.astype(np.int64) if labels.dtype.kind in "iu" else labels  # below 0 a byte is 255
    values, counts = np.unique(labels[labels != IGNORED], return_counts=True)
    if len(values) < 2 or len(labels) < FEWEST:
        return
    stray = _stray(values, counts)
    if len(stray):
        yield _strays(split, values, stray)
    elif values[0] == 1 and values[-1] == len(values) and split.name == "train":
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
            "a class number below 0 ends cross_entropy with an IndexError, or a device-side assert",
            "map -1 and 1 to 0 and 1"
            if signs
            else "map the labels to 0 … C-1, or say ignore_index=-1 if it marks none",
            f"{values[0]:g} to {values[-1]:g}",
            "note" if signs or not split.source.fed else "error",
        )


def _misspelt(split: Split) -> Iterator[Finding]:
    """Names of classes that are another one's but for a letter, a capital or a space."""
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
        what=f"{many(len(samples), 'label')} of {split.name} misspelt ({shown}): {split.samples(samples)}",
        why="each spelling becomes a class of its own, with an output that hardly any sample trains",
        remedy=f"labels = labels.replace({dict(list(typos.items())[:4])!r})",
        evidence=(Evidence(name="misspelt_labels", value=dict(typos), limit="none"),),
        confidence=0.92,
        severity="warning",
        split=split.name,
        samples=tuple(samples),
        columns=(split.source.label,) if split.source.label else (),
    )


def _stray(values: Array, counts: Array) -> Array:
    """Rare labels beyond a gap in an otherwise unbroken row of numbers that begins at 0 or 1."""
    if not np.all(values == np.round(values)):
        return values[:0]
    usual = values[counts > max(3, RARE * counts.sum())]
    if len(usual) < 2 or usual[0] not in (0, 1) or usual[-1] - usual[0] + 1 != len(usual):
        return values[:0]
    low, high = usual[0] - 1, usual[-1] + 1
    while high in values:  # rare labels that go on without a gap are classes as well
        high += 1
    return np.asarray(values[(values < low) | (values > high) | (values < 0)])


def _strays(split: Split, values: Array, stray: Array) -> Finding:
    target = split.sketch.target
    labels: Array | None = target.labels
    assert labels is not None
    samples: NDArray[np.int64] = target.samples[np.isin(labels, stray)]
    usual = values[~np.isin(values, stray)]
    return Finding(
        what=f"{many(len(samples), 'sample')} of {split.name} carry a label such as {stray[0]:g}, where all others are "
        f"between {usual[0]:g} and {usual[-1]:g}: {split.samples(samples.tolist())}",
        why="there will be no output for it: cross_entropy fails on the batch that contains it",
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
