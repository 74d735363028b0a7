"""Images that are mirrored at random while their masks stay as they are: seen by reading a sample several times."""

from __future__ import annotations

from typing import Any

import numpy as np

from paramedic.audit.chunk import Array
from paramedic.audit.models.masks import colours_last
from paramedic.audit.sketches.pictures import is_image_shape
from paramedic.audit.sources.samples import take_apart
from paramedic.audit.sources.torch_data import as_before

LOOKS = 6
ALIKE, UNLIKE = 0.97, 0.9  # correlation of a picture with the other's mirror image, and with the other itself
TURNS = {"left to right": (slice(None), slice(None, None, -1)), "upside down": (slice(None, None, -1), slice(None))}


def turned_alone(dataset: Any, index: int) -> str | None:
    """How the image is mirrored from one look to the next, when its mask is not; None otherwise."""
    try:
        with as_before():
            looks = [_look(dataset[index]) for _ in range(LOOKS)]
    except Exception:
        return None  # a sample that fails is PM320's business
    pairs = [look for look in looks if look is not None]
    if len(pairs) < LOOKS or any(not np.array_equal(pairs[0][1], mask) for _, mask in pairs[1:]):
        return None  # the mask changes as well: it is transformed together with its image
    first, mask = pairs[0]
    for image, _ in pairs[1:]:
        for how, turn in TURNS.items():
            if first.shape != image.shape or np.array_equal(mask, mask[turn]):
                continue
            if _correlation(first, image[turn]) > ALIKE and _correlation(first, image) < UNLIKE:
                return how
    return None


def _look(sample: object) -> tuple[Array, Array] | None:
    inputs, target, _ = take_apart(sample, None)
    image = next((np.asarray(value) for value in inputs.values()), None)
    mask = np.squeeze(np.asarray(target)) if target is not None else None
    if image is None or mask is None or mask.ndim != 2 or not is_image_shape(image.shape):
        return None
    return colours_last(image), mask


def _correlation(one: Array, other: Array) -> float:
    a, b = one.reshape(-1) - one.mean(), other.reshape(-1) - other.mean()
    return float(a @ b / max(float(np.linalg.norm(a) * np.linalg.norm(b)), 1e-12))
