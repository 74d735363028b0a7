"""Pictures that look alike when small, looked at again in full: do they share the grain of their even parts?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array
from paramedic.audit.sketches.pictures import shrunk, to_grey

if TYPE_CHECKING:
    from paramedic.audit.audit import Split
    from paramedic.audit.models.near import Pair

MOST = 2_000  # pairs that are looked at
EVEN = 0.5  # of the pixels, those with the least contrast around them
FEWEST = 64  # pixels
GRAIN = 0.02  # of the contrast: less is rounding, or what compression leaves
LIKE = 3.0  # one picture may have as much more grain than the other: compression and noise change it
SHARED = 0.25  # correlation of the grain; of two pictures that were made apart it is 0


def with_one_grain(first: Split, second: Split, pairs: list[Pair]) -> list[Pair]:
    """Pairs less those that were drawn or taken apart: the same shape at the same place, in different noise."""
    ours, theirs = _rows(first), _rows(second)
    kept: list[Pair] = []
    unknown: list[Pair] = []
    judged = 0
    for pair in pairs:
        known = pair.first in ours and pair.second in theirs and judged < MOST
        if not known:
            unknown.append(pair)
            continue
        judged += 1
        if not _apart(_picture(first, ours[pair.first]), _picture(second, theirs[pair.second])):
            kept.append(pair)
    return kept if judged and len(kept) < judged / 2 else kept + unknown


def _rows(split: Split) -> Mapping[int, int]:
    return {index: row for row, index in enumerate(split.sketch.kept.indices.tolist())}


def _picture(split: Split, row: int) -> Array:
    values = next(iter(split.sketch.kept.inputs.values()))
    return np.asarray(to_grey(np.asarray(values[row])[None])[0])


def _apart(one: Array, other: Array) -> bool:
    """Whether both have grain of one strength where they are even, and it is not the same grain."""
    if one.shape != other.shape:
        height, width = np.minimum(one.shape, other.shape)
        one, other = (shrunk(picture[None], height, width)[0] for picture in (one, other))
    likeness = [_correlation(one, turned) for turned in (other, other[:, ::-1])]
    other = other if likeness[0] >= likeness[1] else other[:, ::-1]  # pairs may be mirror images
    contrast = float(np.ptp(one)) or 1.0
    (grain, slope), (others, other_slope) = _grain(one), _grain(other)
    slope = np.maximum(slope, other_slope)
    even = slope <= np.quantile(slope, EVEN)
    if even.sum() < FEWEST:
        return False
    a, b = grain[even], others[even]
    strengths = sorted((float(a.std()), float(b.std())))
    if strengths[0] < GRAIN * contrast or strengths[1] > LIKE * strengths[0]:
        return False
    return _correlation(a, b) < SHARED


def _grain(picture: Array) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What a pixel differs from the mean of its neighbours, and how much the ground around it slopes."""
    padded = np.pad(np.asarray(picture, dtype=np.float64), 2, mode="edge")
    height, width = picture.shape
    around = [padded[y : y + height, x : x + width] for y in range(5) for x in range(5)]
    inner = [padded[y : y + height, x : x + width] for y in range(1, 4) for x in range(1, 4)]
    stack = np.stack(around)
    return picture - np.mean(inner, axis=0), np.asarray(stack.max(axis=0) - stack.min(axis=0))


def _correlation(a: Array, b: Array) -> float:
    a, b = a - a.mean(), b - b.mean()
    return float((a * b).sum() / max(float(np.sqrt((a**2).sum() * (b**2).sum())), 1e-12))
