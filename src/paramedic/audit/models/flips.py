"""Images that are mirrored at random and their masks are not, or not together: seen by reading a sample repeatedly."""

from __future__ import annotations

from itertools import combinations
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
    """How image and mask are mirrored from one look to the next, when not both in the same way; None otherwise."""
    try:
        with as_before():
            looks = [_look(dataset[index]) for _ in range(LOOKS)]
    except Exception:
        return None  # a sample that fails is PM320's business
    pairs = [look for look in looks if look is not None]
    if len(pairs) < LOOKS:
        return None
    still = all(np.array_equal(pairs[0][1], mask) for _, mask in pairs[1:])
    for (first, mask), (image, other) in combinations(pairs, 2):
        of_image, of_mask = _turn_of_image(first, image), _turn_of_mask(mask, other)
        if of_image is None or of_mask is None or of_image == of_mask:
            continue
        if of_image and np.array_equal(mask, mask[TURNS[of_image]]):
            continue  # nobody sees whether this mask was mirrored
        how = of_image or of_mask
        return f"{how} at random, and their masks are {'not' if still else 'mirrored independently of them'}"
    return None


def _turn_of_image(one: Array, other: Array) -> str | None:
    """Empty if nothing was mirrored; None if something else was done to it, or if it would look the same."""
    if one.shape != other.shape:
        return None
    straight = _correlation(one, other)
    turned = {how: _correlation(one, other[turn]) for how, turn in TURNS.items()}
    if straight > ALIKE:
        return "" if max(turned.values()) < UNLIKE else None
    return next((how for how, value in turned.items() if value > ALIKE and straight < UNLIKE), None)


def _turn_of_mask(one: Array, other: Array) -> str | None:
    if np.array_equal(one, other):
        return ""
    return next((how for how, turn in TURNS.items() if np.array_equal(one, other[turn])), None)


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
