"""Faults planted in healthy data: each returns the data, the code that must be found, and the samples it must name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class Data:
    """A healthy set, split at random."""

    x: Array
    y: Array
    vx: Array
    vy: Array
    images: tuple[int, ...] | None = None  # shape of one image, where samples are images


@dataclass(frozen=True, kw_only=True)
class Planted:
    """The sick data and the truth about it."""

    train: tuple[Array, Array]
    val: tuple[Array, Array]
    code: str
    samples: set[int] = field(default_factory=set)  # indices in the split that the finding is about
    loader: str = "array"  # how it is given: "array", "dataset", "loader"


Fault = Callable[[Data, np.random.Generator], Planted | None]


def classes(data: Data) -> int:
    return len(np.unique(data.y)) if data.y.dtype.kind in "iu" else 0


def label_noise(data: Data, random: np.random.Generator, share: float = 0.05) -> Planted | None:
    if classes(data) < 2:
        return None
    y = data.y.copy()
    rows = random.choice(len(y), max(8, int(share * len(y))), replace=False)
    y[rows] = (y[rows] + random.integers(1, classes(data), len(rows))) % classes(data)
    return Planted(train=(data.x, y), val=(data.vx, data.vy), code="PM310", samples=set(rows.tolist()))


def leaked_rows(data: Data, random: np.random.Generator) -> Planted:
    rows = random.choice(len(data.vx), max(3, len(data.vx) // 10), replace=False)
    x, y = np.concatenate([data.x, data.vx[rows]]), np.concatenate([data.y, data.vy[rows]])
    return Planted(train=(x, y), val=(data.vx, data.vy), code="PM307", samples=set(rows.tolist()))


def copied_rows(data: Data, random: np.random.Generator) -> Planted:
    rows = random.choice(len(data.x), max(12, len(data.x) // 10), replace=False)
    x, y = np.concatenate([data.x, data.x[rows]]), np.concatenate([data.y, data.y[rows]])
    copies = set(rows.tolist()) | set(range(len(data.x), len(x)))
    return Planted(train=(x, y), val=(data.vx, data.vy), code="PM308", samples=copies)


def _jittered(rows: Array, data: Data, random: np.random.Generator) -> Array:
    return np.asarray(rows + 0.005 * data.x.std(axis=0) * random.normal(size=rows.shape))


def jittered_copies(data: Data, random: np.random.Generator) -> Planted | None:
    """Copies with noise on all columns, half a hundredth of their deviation."""
    if data.images is not None or data.x.shape[1] < 8:
        return None
    rows = random.choice(len(data.x), max(12, len(data.x) // 10), replace=False)
    x = np.concatenate([data.x, _jittered(data.x[rows], data, random)])
    copies = set(rows.tolist()) | set(range(len(data.x), len(x)))
    return Planted(
        train=(x, np.concatenate([data.y, data.y[rows]])), val=(data.vx, data.vy), code="PM308", samples=copies
    )


def jittered_leak(data: Data, random: np.random.Generator) -> Planted | None:
    if data.images is not None or data.x.shape[1] < 8:
        return None
    rows = random.choice(len(data.vx), max(5, len(data.vx) // 10), replace=False)
    x, y = np.concatenate([data.x, _jittered(data.vx[rows], data, random)]), np.concatenate([data.y, data.vy[rows]])
    return Planted(train=(x, y), val=(data.vx, data.vy), code="PM307", samples=set(rows.tolist()))


def changed_column(data: Data, random: np.random.Generator) -> Planted | None:
    """Copies in which one column has another value."""
    if data.x.shape[1] < 8:
        return None
    rows = random.choice(len(data.x), max(12, len(data.x) // 10), replace=False)
    copied = data.x[rows].copy()
    columns = random.integers(0, data.x.shape[1], len(rows))
    copied[np.arange(len(rows)), columns] += data.x.std() + 1
    x, y = np.concatenate([data.x, copied]), np.concatenate([data.y, data.y[rows]])
    copies = set(rows.tolist()) | set(range(len(data.x), len(x)))
    return Planted(train=(x, y), val=(data.vx, data.vy), code="PM308", samples=copies)


def missing_values(data: Data, random: np.random.Generator) -> Planted:
    x = data.x.astype(np.float64)
    rows = random.choice(len(x), 3, replace=False)
    flat = x.reshape(len(x), -1)
    flat[rows, random.integers(0, flat.shape[1], 3)] = np.nan
    return Planted(train=(x, data.y), val=(data.vx, data.vy), code="PM105", samples=set(rows.tolist()))


def constant_column(data: Data, random: np.random.Generator) -> Planted | None:
    if data.images is not None:
        return None
    x, vx = data.x.copy(), data.vx.copy()
    column = int(random.integers(x.shape[1]))
    x[:, column] = vx[:, column] = 7
    return Planted(train=(x, data.y), val=(vx, data.vy), code="PM303")


def other_unit(data: Data, random: np.random.Generator) -> Planted | None:
    """One column of the validation part in thousandths."""
    if data.images is not None or len(data.vx) < 30:
        return None
    vx = data.vx.copy()
    spread = np.abs(data.x).mean(axis=0) / (data.x.std(axis=0) + 1e-12)
    vx[:, int(spread.argmax())] *= 1000
    return Planted(train=(data.x, data.y), val=(vx, data.vy), code="PM318")


def unit_in_some_rows(data: Data, random: np.random.Generator) -> Planted | None:
    if data.images is not None or len(data.x) < 100:
        return None
    x = data.x.copy()
    rows = random.choice(len(x), 2, replace=False)
    column = int((np.abs(np.median(x, axis=0)) / (x.std(axis=0) + 1e-12)).argmax())
    x[rows, column] *= 1000
    return Planted(train=(x, data.y), val=(data.vx, data.vy), code="PM321", samples=set(rows.tolist()))


def shuffled_labels(data: Data, random: np.random.Generator) -> Planted | None:
    if len(data.y) < 300 or data.y.ndim > 1:
        return None
    code = "PM311" if data.images is not None else "PM322"
    return Planted(train=(data.x, random.permutation(data.y)), val=(data.vx, data.vy), code=code)


def shifted_labels(data: Data, random: np.random.Generator) -> Planted | None:
    if len(data.y) < 300 or data.y.ndim > 1:
        return None
    return Planted(train=(data.x[1:], data.y[:-1]), val=(data.vx, data.vy), code="PM311")


def sorted_by_class(data: Data, random: np.random.Generator) -> Planted | None:
    if classes(data) < 2:
        return None
    order = np.argsort(data.y, kind="stable")
    return Planted(train=(data.x[order], data.y[order]), val=(data.vx, data.vy), code="PM306", loader="loader")


def labels_from_one(data: Data, random: np.random.Generator) -> Planted | None:
    if classes(data) < 2:
        return None
    return Planted(train=(data.x, data.y + 1), val=(data.vx, data.vy + 1), code="PM304", loader="dataset")


def stray_label(data: Data, random: np.random.Generator) -> Planted | None:
    if classes(data) < 2 or len(data.y) < 50:
        return None
    y = data.y.copy()
    row = int(random.integers(len(y)))
    y[row] = 99
    return Planted(train=(data.x, y), val=(data.vx, data.vy), code="PM304", samples={row}, loader="dataset")


def unseen_class(data: Data, random: np.random.Generator) -> Planted | None:
    if classes(data) < 3:
        return None
    kept = data.y != data.y.max()
    return Planted(train=(data.x[kept], data.y[kept]), val=(data.vx, data.vy), code="PM323")


def scaled_on_both(data: Data, random: np.random.Generator) -> Planted | None:
    if data.images is not None or len(data.vx) < 20:
        return None
    both = np.concatenate([data.x, data.vx])
    mean, std = both.mean(axis=0), both.std(axis=0)
    x, vx = (data.x - mean) / std, (data.vx - mean) / std
    return Planted(train=(x, data.y), val=(vx, data.vy), code="PM314")


def raw_pixels(data: Data, random: np.random.Generator) -> Planted | None:
    if data.images is None:
        return None
    x, vx = (np.rint(part / data.x.max() * 255).reshape(-1, 1, *data.images) for part in (data.x, data.vx))
    return Planted(train=(x, data.y), val=(vx, data.vy), code="PM301", loader="dataset")


def scaled_twice(data: Data, random: np.random.Generator) -> Planted | None:
    if data.images is None:
        return None
    x, vx = (part.reshape(-1, 1, *data.images) / data.x.max() / 255 for part in (data.x, data.vx))
    return Planted(train=(x, data.y), val=(vx, data.vy), code="PM301", loader="dataset")


def mirrored_copies(data: Data, random: np.random.Generator) -> Planted | None:
    """Slightly changed copies of validation images in the training part."""
    if data.images is None or data.images[0] < 16:
        return None
    rows = random.choice(len(data.vx), max(10, len(data.vx) // 20), replace=False)
    copies = data.vx[rows].reshape(-1, *data.images)
    copies = np.clip(copies + random.normal(0, 0.01 * data.x.max(), copies.shape), 0, data.x.max())
    x, y = np.concatenate([data.x.reshape(-1, *data.images), copies]), np.concatenate([data.y, data.vy[rows]])
    vx = data.vx.reshape(-1, *data.images)
    return Planted(train=(x, y), val=(vx, data.vy), code="PM307", samples=set(rows.tolist()))


def blank_images(data: Data, random: np.random.Generator) -> Planted | None:
    if data.images is None:
        return None
    x = data.x.reshape(-1, *data.images).copy()
    rows = random.choice(len(x), max(5, len(x) // 50), replace=False)
    x[rows] = 0
    return Planted(
        train=(x, data.y), val=(data.vx.reshape(-1, *data.images), data.vy), code="PM303", samples=set(rows.tolist())
    )


FAULTS: tuple[Fault, ...] = (
    label_noise, leaked_rows, copied_rows, missing_values, constant_column, other_unit, unit_in_some_rows,
    shuffled_labels, shifted_labels, sorted_by_class, labels_from_one, stray_label, unseen_class, scaled_on_both,
    raw_pixels, scaled_twice, mirrored_copies, blank_images, jittered_copies, jittered_leak, changed_column,
)  # fmt: skip
