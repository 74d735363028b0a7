"""Recordings with flat tops: amplified beyond what the format holds, their highest and lowest values are cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array, Values

if TYPE_CHECKING:
    from paramedic.audit.audit import Split

LENGTH = 64  # values of a recording, at least
FEWEST = 40  # recordings
FLAT = 0.05  # of the values of a recording are its highest one, and as many its lowest
SINGLE = 2  # times that an ordinary recording reaches its highest value
MOST_SHARE = 0.2  # of all recordings; more are made that way
OF_A_CLASS = 0.5  # of a class; more are what the class is, such as square waves


def clipped(split: Split) -> list[int] | None:
    """Samples with flat tops among others without; None where there are no recordings."""
    judged = False
    for values in split.sketch.kept.inputs.values():
        rows = _recordings(values)
        if rows is None:
            continue
        judged = True
        often = np.minimum(_times(rows, rows.max(axis=1)), _times(rows, rows.min(axis=1)))
        flat = often >= FLAT * rows.shape[1]
        if not 0 < flat.sum() <= MOST_SHARE * len(rows) or not bool((often[~flat] <= SINGLE).all()):
            continue
        if not _is_a_class(split, flat):
            return [int(sample) for sample in split.sketch.kept.indices[flat]]
    return [] if judged else None


def _recordings(values: Values) -> Array | None:
    if isinstance(values, list) or values.dtype.kind != "f" or len(values) < FEWEST:
        return None
    if len([size for size in values.shape[1:] if size > 1]) != 1:
        return None
    rows = values.reshape(len(values), -1)
    return rows if rows.shape[1] >= LENGTH and bool(np.isfinite(rows).all()) else None


def _times(rows: Array, values: Array) -> NDArray[np.int64]:
    return np.asarray((rows == values[:, None]).sum(axis=1))


def _is_a_class(split: Split, flat: NDArray[np.bool_]) -> bool:
    labels = split.features.labels
    if labels is None or len(labels) != len(flat) or labels.dtype.kind == "f":
        return False
    return any(float(flat[labels == label].mean()) > OF_A_CLASS for label in np.unique(labels[flat]))
