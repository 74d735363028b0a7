"""The kept samples as one matrix of moderate width, whatever they are: for forests and nearest neighbours."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array, Values
from paramedic.audit.sketches.kept import join
from paramedic.audit.sketches.pictures import are_images, channel_axis, shrunk

if TYPE_CHECKING:
    from paramedic.audit.audit import Split

WIDEST = 1024
SIDE = 16
CATEGORIES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """One row per kept sample."""

    matrix: NDArray[np.float32]
    indices: NDArray[np.int64]
    labels: Array | None  # scalar targets, where there are such

    @property
    def scaled(self) -> NDArray[np.float32]:
        """Each column with mean 0 and deviation 1, for distances."""
        spread = self.matrix.std(axis=0)
        return np.asarray((self.matrix - self.matrix.mean(axis=0)) / np.where(spread > 0, spread, 1), dtype=np.float32)


def features(split: Split, without: str | None = None) -> Features:
    """Of all inputs, or all but one."""
    kept = split.sketch.kept
    inputs = [values for name, values in kept.inputs.items() if name != without]
    columns = [_columns(values) for values in inputs if len(values) == len(kept.indices)]
    matrix = np.concatenate(columns, axis=1) if columns else np.zeros((len(kept.indices), 0), dtype=np.float32)
    labels = split.sketch.target.labels
    if labels is not None:
        samples = split.sketch.target.samples
        order = np.argsort(samples, kind="stable")
        places = np.searchsorted(samples[order], kept.indices)
        labels = labels[order][np.minimum(places, len(order) - 1)]
    return Features(matrix=matrix, indices=kept.indices, labels=labels)


def together(train: Split, val: Split) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Both splits in the same columns: names become columns by what occurs in either of them."""
    ours, theirs = train.sketch.kept, val.sketch.kept
    border, columns = len(ours.indices), []
    for name, values in ours.inputs.items():
        others = theirs.inputs.get(name)
        if others is not None and len(values) == border and len(others) == len(theirs.indices):
            columns.append(_columns(join(values, others)))
    both = np.concatenate(columns, axis=1) if columns else np.zeros((border + len(theirs.indices), 0), dtype=np.float32)
    return both[:border], both[border:]


def _columns(values: Values) -> NDArray[np.float32]:
    if isinstance(values, list):
        if are_images(values):
            return np.concatenate([_finite(_small(value)) for value in values])
        return _of_texts(values) if values and isinstance(values[0], str) else _of_ragged(values)
    if are_images(values):
        return _finite(_of_images(values))
    rows = values.reshape(len(values), -1)
    return _finite(rows if rows.shape[1] <= WIDEST else _folded(rows))


def _of_images(images: Array) -> Array:
    axis = channel_axis(images.shape[1:])
    planes = [images] if axis is None else [np.take(images, c, axis=axis + 1) for c in range(images.shape[axis + 1])]
    if planes[0][0].size * len(planes) <= WIDEST:
        return images.reshape(len(images), -1)
    return np.concatenate([shrunk(p.astype(np.float32), SIDE, SIDE).reshape(len(p), -1) for p in planes[:3]], axis=1)


def _small(image: Array) -> Array:
    """One image of any size as SIDE x SIDE in three colours."""
    axis = channel_axis(image.shape)
    planes = np.moveaxis(image, axis, 0)[:3] if axis is not None else image[None]
    planes = np.repeat(planes[:1], 3, axis=0) if len(planes) < 3 else planes
    return shrunk(planes.astype(np.float32), SIDE, SIDE).reshape(1, -1)


def _of_texts(texts: list[str]) -> NDArray[np.float32]:
    counts = Counter(texts)
    if len(counts) <= CATEGORIES or len(counts) < len(texts) / 10:
        names = [name for name, _ in counts.most_common(CATEGORIES)]
        return np.asarray([[text == name for name in names] for text in texts], dtype=np.float32)
    from sklearn.feature_extraction.text import HashingVectorizer

    words: Any = HashingVectorizer(n_features=512, alternate_sign=False, norm="l2")
    return np.asarray(words.transform(texts).toarray(), dtype=np.float32)


def _of_ragged(arrays: list[Any]) -> NDArray[np.float32]:
    """Sequences of different lengths: which tokens they hold, or the mean and spread of their numbers."""
    found = np.zeros((len(arrays), 256), dtype=np.float32)
    for row, array in enumerate(arrays):
        if array.size and array.dtype.kind in "iu":
            np.add.at(found[row], array.reshape(-1) % 256, 1.0 / array.size)
        elif array.size and array.dtype.kind == "f":
            found[row, :3] = float(array.mean()), float(array.std()), array.size
    return _finite(found)


def _folded(rows: Array) -> Array:
    """Averages of neighbouring columns, so that wide samples stay affordable."""
    step = -(-rows.shape[1] // WIDEST)
    width = rows.shape[1] // step * step
    return np.asarray(rows[:, :width].reshape(len(rows), -1, step).mean(axis=2))


def _finite(rows: Array) -> NDArray[np.float32]:
    """Missing and infinite values become the mean of their column."""
    numbers = np.asarray(np.abs(rows) if np.iscomplexobj(rows) else rows, dtype=np.float64)
    with np.errstate(all="ignore"):
        good = np.isfinite(numbers) & (np.abs(numbers) < 1e30)
        if not good.all():
            means = np.where(good, numbers, 0).sum(axis=0) / np.maximum(good.sum(axis=0), 1)
            numbers = np.where(good, numbers, means)
    return numbers.astype(np.float32)
