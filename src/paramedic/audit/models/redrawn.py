"""How much of the spread of a Dataset's numbers is drawn anew at each reading: noise and other augmentation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paramedic.audit.sketches.moments import Floats

if TYPE_CHECKING:
    from paramedic.audit.audit import Split

SAMPLES = 32


def redrawn(split: Split) -> dict[str, Floats]:
    """The deviation of each column of an input between two readings of one sample; nothing where they are equal."""
    source = split.source
    if not source.fed or not len(source.indices) or not hasattr(source.origin, "__len__"):
        return {}
    some = source.indices[:: max(1, len(source.indices) // SAMPLES)][:SAMPLES]
    parts: dict[str, list[Floats]] = {}
    for chunk in source.read_some(np.repeat(some, 2)):  # in one go: each reading starts from the same random state
        for name, values in chunk.inputs.items():
            if isinstance(values, list) or values.dtype.kind != "f" or chunk.bad:
                return {}
            parts.setdefault(name, []).append(np.asarray(values, dtype=np.float64).reshape(len(values), -1))
    found = {}
    for name, pieces in parts.items():
        rows = np.concatenate(pieces)
        apart = rows[::2] - rows[1::2]
        if np.isfinite(apart).all() and apart.any():
            found[name] = np.sqrt((apart**2).mean(axis=0) / 2)
    return found
