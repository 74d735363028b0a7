"""Is one picture a crop of another, or a brighter copy? Looked at again in full, as it would lie on the other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array
from paramedic.audit.models.masks import colours_last
from paramedic.audit.sketches.pictures import shrunk

SIDE = 32  # pixels of a picture that is compared
SIZES = (1.0, 0.97, 0.94, 0.91, 0.88, 0.85, 0.8)  # of the larger picture, that the other may show
OFFSETS = 3  # places of such a part, along either axis
LIKENESS = 0.985  # correlation of all colours at once: a change of hue is none of brightness
FURTHEST = 0.25  # of the contrast, by which a pixel may differ when both are as bright
SEEN = 0.98  # of the pixels

Floats = NDArray[np.float32]


def shows_part_of(one: Array, other: Array) -> bool:
    """Whether one of the two pictures lies on the other, as a whole or cropped a little, but for its brightness."""
    pictures = [colours_last(picture).astype(np.float32) for picture in (one, other)]
    if pictures[0].shape[2] != pictures[1].shape[2] or min(*pictures[0].shape[:2], *pictures[1].shape[:2]) < SIDE:
        return False
    small = [_small(picture) for picture in pictures]
    for whole, part in ((pictures[0], small[1]), (pictures[1], small[0])):
        best = max((_small(crop) for crop in _crops(whole)), key=lambda crop: _likeness(crop, part))
        if _likeness(best, part) >= LIKENESS and _equally_bright(best, part):
            return True
    return False


def _crops(picture: Floats) -> Iterator[Floats]:
    height, width = picture.shape[:2]
    for size in SIZES:
        down, across = round(size * height), round(size * width)
        for y in np.unique(np.linspace(0, height - down, OFFSETS).round().astype(int)):
            for x in np.unique(np.linspace(0, width - across, OFFSETS).round().astype(int)):
                yield picture[y : y + down, x : x + across]


def _small(picture: Floats) -> Floats:
    return np.stack([shrunk(picture[None, ..., c], SIDE, SIDE)[0] for c in range(picture.shape[2])], axis=-1)


def _likeness(one: Floats, other: Floats) -> float:
    a, b = one - one.mean(), other - other.mean()
    return float((a * b).sum() / max(float(np.sqrt((a**2).sum() * (b**2).sum())), 1e-12))


def _equally_bright(one: Floats, other: Floats) -> bool:
    """Whether pixels agree once one picture has the brightness and contrast of the other."""
    scaled = (one - one.mean()) / max(float(one.std()), 1e-12) * other.std() + other.mean()
    off = np.abs(scaled - other).max(axis=2) > FURTHEST * max(float(np.ptp(other)), 1e-12)
    return bool(off.mean() <= 1 - SEEN)
