"""What the data is, in a few lines: sizes, task, and what a good model should reach."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from paramedic.audit.audit import Audit, Split
from paramedic.audit.dense_labels import is_dense, shares
from paramedic.audit.models.signal import Signal
from paramedic.findings.words import plural

SHOWN = 64  # classes of pixels or tokens; more are a vocabulary


def describe(audit: Audit, *, models: bool) -> Iterator[str]:
    for split in audit.splits:
        yield f"{split.name}: {split.source.title}, {plural(split.size, 'sample')}{_inputs(split)}"
    classes = _classes(audit)
    of = f" of {audit.train.source.label!r}" if audit.train.source.label else ""
    yield f"task: {audit.task.kind}{of}{f', {classes}' if classes else ''} ({audit.task.because})"
    if is_dense(audit) and len(audit.train.sketch.dense.elements) <= SHOWN:
        yield f"classes: {shares(audit.train)}"
    expected = expectation(audit) if models else ""
    if expected:
        yield expected


def expectation(audit: Audit) -> str:
    """What a model should at least reach here, from a forest that never saw the samples it was asked about."""
    signal = audit.signal
    if signal is None:
        return ""
    if signal.task == "classification":
        machine = f", {signal.machine:.1%} (kernel SVM)" if signal.machine is not None else ""
        return (
            f"to beat: {signal.score:.1%} accuracy (random forest){machine}, {signal.neighbour:.1%} (nearest "
            f"neighbour), {signal.guess:.1%} (guessing){_curve(signal)}"
        )
    return f"to beat: rank correlation {signal.score:.2f} (random forest), {signal.neighbour:.2f} (nearest neighbour)"


def _curve(signal: Signal) -> str:
    """Whether more samples would help, from the same forest on half of them."""
    if signal.half is None:
        return ""
    gain = signal.score - signal.half
    noise = 2 * (signal.score * (1 - signal.score) / signal.size) ** 0.5
    helps = "more samples would probably help" if gain > max(noise, 0.01) else "more samples would hardly help"
    return f"; {signal.half:.1%} with half of the samples: {helps}"


def _inputs(split: Split) -> str:
    parts = []
    for name, sketch in split.sketch.inputs.items():
        if sketch.type == "text":
            parts.append(f"{'texts' if sketch.is_text else 'names'} in {name!r}" if name else "texts")
        elif len(sketch.shapes) > 1 and all(len(shape) == 1 for shape in sketch.shapes):
            lengths = [shape[0] for shape in sketch.shapes]
            parts.append(f"sequences of {min(lengths):,} to {max(lengths):,} values")
        elif len(sketch.shapes) > 1:
            parts.append(f"arrays of {len(sketch.shapes)} shapes")
        elif not sketch.shape:
            parts.append(f"a number {name!r} ({sketch.type})" if name else f"one number ({sketch.type})")
        else:
            parts.append(f"{' × '.join(map(str, sketch.shape))} number{'s' * (sketch.shape != (1,))} ({sketch.type})")
    boxes = sum(len(found.numbers) for _, found in split.sketch.boxes)
    parts += [plural(boxes, "box").replace("boxs", "boxes")] if boxes else []
    return f" of {', '.join(parts[:4])}{' …' if len(parts) > 4 else ''}" if parts else ""


def _classes(audit: Audit) -> str:
    labels = audit.train.sketch.target.labels
    if audit.task.kind != "classification" or labels is None:
        return ""
    counts = np.unique(labels, return_counts=True)[1]
    span = f"{counts.min():,}" if counts.min() == counts.max() else f"{counts.min():,} to {counts.max():,}"
    return f"{len(counts)} class{'es' * (len(counts) != 1)} of {span} samples"
