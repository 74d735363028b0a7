"""A small part of the data for debugging, with the classes in their proportions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array, Source
from paramedic.audit.sources import open_source
from paramedic.errors import ParamedicError, message_of
from paramedic.paths import check_outputs, kind_of


def stratified(labels: Array | None, indices: NDArray[np.int64], n: int, seed: int) -> list[int]:
    """`n` of the indices: each class gets its share, and at least one sample while there is room."""
    random = np.random.default_rng(seed)
    if n >= len(indices):
        return indices.tolist()
    if labels is None or len(np.unique(labels)) > max(2, len(labels) // 5):
        return sorted(random.choice(indices, n, replace=False).tolist())
    values, counts = np.unique(labels, return_counts=True)
    wanted = counts * n / counts.sum()
    given = np.minimum(np.maximum(np.floor(wanted), 1 if n >= len(values) else 0), counts).astype(int)
    while given.sum() > n:  # rare classes got one more than their share: the largest pay for it
        given[np.argmax(given - wanted)] -= 1
    while given.sum() < n:
        given[np.argmax(np.where(given < counts, wanted - given, -np.inf))] += 1
    chosen = [random.choice(indices[labels == v], k, replace=False) for v, k in zip(values, given, strict=True) if k]
    return sorted(np.concatenate(chosen).tolist())


def choose(source: Source, n: int, seed: int) -> list[int]:
    """The indices of a subset of any source; reads the targets of all samples."""
    if n < 1:
        raise ParamedicError(f"a subset of {n} samples is empty", expected="1 or more", fix="--subset 100 OUT")
    from paramedic.audit.sketches.targets import TargetSketch

    targets, indices = TargetSketch(), []
    for chunk in source.read():
        targets.update(chunk.target, chunk.indices)
        indices.append(chunk.indices)
    labels = targets.labels
    read = np.concatenate(indices) if indices else np.zeros(0, dtype=np.int64)
    return stratified(labels if labels is not None and len(labels) == len(read) else None, read, n, seed)


def subset_of(dataset: Any, n: int, *, seed: int) -> object:
    known = getattr(dataset, "targets", getattr(dataset, "labels", None))
    if known is not None and len(known) == len(dataset):  # no need to read every sample
        chosen = stratified(np.asarray(known), np.arange(len(dataset)), n, seed)
    else:
        chosen = choose(open_source(dataset), n, seed)
    return sys.modules["torch"].utils.data.Subset(dataset, chosen)


def write_subset(source: Source, n: int, path: Path, *, seed: int = 0) -> Sequence[int]:
    """Write a subset in the format of the source."""
    if source.write is None:
        raise ParamedicError(
            f"a subset of {source.title} cannot be written",
            expected="a file of samples",
            fix="in Python: paramedic.subset(dataset, 100)",
        )
    chosen = choose(source, n, seed)
    _write(source, chosen, path)
    return chosen


def _write(source: Source, kept: Sequence[int], path: Path) -> None:
    if source.kind != "images":  # those go into a folder
        check_outputs(path)
    elif kind_of(path) not in (None, "folder"):
        raise ParamedicError(f"{path} is not a folder", expected="a new folder for the images", fix=f"{path}-images")
    assert source.write is not None
    try:
        source.write(kept, path)
    except ParamedicError:
        raise
    except Exception as error:  # the library of each format has its own kinds
        raise ParamedicError(
            f"cannot write {path}: {message_of(error) or type(error).__name__}",
            expected=f"a place for samples like those of {source.title}",
            fix="choose another name or format",
        ) from None


def write_without(source: Source | None, left_out: set[int], path: Path) -> int:
    """Write all samples but some in the format of the source; returns how many are left."""
    if source is None or source.write is None:
        raise ParamedicError("there is no validation file to clean", expected="--val FILE", fix="--val test.csv")
    rest = [index for index in source.indices.tolist() if index not in left_out]
    _write(source, rest, path)
    return len(rest)
