"""What is to be learnt: inferred from the targets, and said, so that a wrong guess can be corrected with --task."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from paramedic.audit.chunk import Array, Values
from paramedic.audit.sketches.pictures import is_image_shape
from paramedic.findings.words import plural

TASKS = ("classification", "regression", "multi-label", "segmentation", "detection", "sequence", "unlabelled")
SHADES = 64  # different values; pictures have more
FEW = 20  # different whole numbers that are classes without further proof


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """The kind of task, and why it is thought to be that."""

    kind: str
    because: str
    told: bool = False


def infer(targets: Values | None, inputs: tuple[int, ...] | None = None, *, boxes: bool = False) -> Task:
    """The task of these targets; `inputs` is the shape of one input."""
    if boxes:
        return Task(kind="detection", because="the targets are boxes")
    if targets is None or len(targets) == 0:
        return Task(kind="unlabelled", because="no targets were found")
    if isinstance(targets, list):
        if all(isinstance(target, str) for target in targets):
            return _of_words(targets)
        if inputs is not None and len(inputs) >= 2 and all(np.squeeze(np.asarray(t)).ndim == 2 for t in targets[:100]):
            return Task(kind="segmentation", because="targets are pictures of different sizes")
        return Task(kind="sequence", because="targets differ in length")
    if targets.dtype.kind not in "biuf":
        return _of_words([str(target) for target in targets])
    if targets.ndim == 1 or (targets.ndim == 2 and targets.shape[1] == 1):
        return _of_numbers(targets.reshape(-1))
    return _of_arrays(targets, inputs)


def _of_words(targets: list[str]) -> Task:
    distinct = len(set(targets))
    if distinct > max(FEW, len(targets) // 4):
        return Task(kind="sequence", because="nearly every target is another text")
    return Task(kind="classification", because=f"{plural(distinct, 'different name')} as targets")


def _of_numbers(targets: Array) -> Task:
    finite = targets[np.isfinite(targets)] if targets.dtype.kind == "f" else targets
    values = np.unique(finite)
    whole = targets.dtype.kind in "biu" or bool(np.all(values == np.round(values)))
    if not whole:
        return Task(kind="regression", because="targets are not whole numbers")
    few = len(values) <= FEW and len(values) <= max(2, len(targets) // 4)
    span = float(values[-1]) - float(values[0]) if len(values) else 0.0
    dense = len(values) <= len(targets) / 20 and span < 1.5 * len(values) and targets.dtype.kind != "f"
    if few or dense:
        return Task(kind="classification", because=f"{plural(len(values), 'different whole number')} as targets")
    return Task(kind="regression", because=f"{len(values):,} different numbers as targets")


def _patches(targets: Array) -> bool:
    """Classes, rather than the shades of a picture: few different values, or large patches of one value."""
    some = targets[:50]
    values = len(np.unique(some))
    return values <= SHADES or (values <= 256 and float(np.mean(some[..., 1:] == some[..., :-1])) > 0.9)


def _of_arrays(targets: Array, inputs: tuple[int, ...] | None) -> Task:
    shape = targets.shape[1:]
    sample = targets.reshape(-1)[:100_000]
    sample = sample[np.isfinite(sample)] if sample.dtype.kind == "f" else sample
    whole = sample.dtype.kind in "biu" or bool(np.all(sample == np.round(sample)))
    if inputs is not None and len(inputs) >= 2 and len(shape) >= 2 and shape[-2:] in (inputs[-2:], inputs[:2]):
        kind = "segmentation" if whole and _patches(targets) else "regression"
        return Task(kind=kind, because="targets are as large as the images")
    few = sample.dtype.kind in "biu" and _patches(targets)
    if few and inputs is not None and is_image_shape(inputs) and is_image_shape(shape):
        return Task(kind="segmentation", because="targets are pictures of whole numbers")
    if len(shape) == 1 and whole and set(np.unique(sample)) <= {0, 1}:
        if bool(np.all(targets.sum(axis=1) == 1)):
            return Task(kind="classification", because="each target has a single one (one-hot)")
        return Task(kind="multi-label", because="targets are several zeros and ones")
    if sample.dtype.kind in "iu":
        return Task(kind="sequence", because="targets are several whole numbers")
    return Task(kind="regression", because=f"targets are {' × '.join(map(str, shape))} numbers each")
