"""Do masks lie on the things in their images? They do when they part bright from dark, or one colour from another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array
from paramedic.audit.sketches.pictures import channel_axis, is_image_shape

if TYPE_CHECKING:
    from paramedic.audit.audit import Split

FEWEST, MOST = 12, 150  # pairs
GAIN = 0.08  # of an image's variation that must be explained better
SURE = 6.0  # standard errors
OFTEN = 0.8  # of the pairs

Change = Callable[[list[Array]], list[Array]]
CHANGES: dict[str, tuple[str, Change]] = {
    "mirrored": ("mirrored left to right", lambda masks: [mask[:, ::-1] for mask in masks]),
    "upside down": ("turned upside down", lambda masks: [mask[::-1] for mask in masks]),
    "rotated": ("rotated by half a turn", lambda masks: [mask[::-1, ::-1] for mask in masks]),
    "transposed": ("transposed", lambda masks: [mask.T for mask in masks]),
    "next": ("moved to the next sample", lambda masks: [masks[-1], *masks[:-1]]),
    "previous": ("moved to the previous sample", lambda masks: [*masks[1:], masks[0]]),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Better:
    """A change of the masks that makes them fit."""

    how: str
    now: float  # part of the images' variation that the masks explain
    then: float


def better_fit(split: Split) -> Better | None:
    """None where no change makes masks fit clearly better, or there is nothing to compare."""
    _, images, masks = pairs(split, MOST)
    if len(images) < FEWEST:
        return None
    now = np.asarray([explained(image, mask) for image, mask in zip(images, masks, strict=True)])
    found = []
    for how, change in CHANGES.values():
        then = np.asarray([explained(image, mask) for image, mask in zip(images, change(masks), strict=True)])
        gain = then - now
        judged = np.isfinite(gain)
        if judged.sum() < FEWEST:
            continue
        gain = gain[judged]
        error = float(gain.std()) / len(gain) ** 0.5 + 1e-9
        if gain.mean() > GAIN and gain.mean() > SURE * error and (gain > 0).mean() > OFTEN:
            found.append(Better(how=how, now=float(now[judged].mean()), then=float(then[judged].mean())))
    return max(found, key=lambda better: better.then, default=None)


def explained(image: Array, mask: Array) -> float:
    """The part of the variation of an image (height, width, colours) that lies between the classes of a mask."""
    if image.shape[:2] != mask.shape:
        return float("nan")
    _, codes = np.unique(mask, return_inverse=True)
    codes, pixels = codes.reshape(-1), image.reshape(-1, image.shape[2])
    counts = np.bincount(codes)
    away = pixels - pixels.mean(axis=0)
    total = float((away**2).sum())
    if len(counts) < 2 or not total > 0:
        return float("nan")
    sums = np.stack([np.bincount(codes, weights=column) for column in away.T], axis=1)
    return float((sums**2 / counts[:, None]).sum() / total)


def pairs(split: Split, most: int) -> tuple[list[int], list[NDArray[np.float64]], list[Array]]:
    """Samples, images with their colours last, and their masks, in the order of the samples."""
    kept = split.sketch.kept
    values = next(iter(kept.inputs.values()), None)
    if values is None or kept.target is None:
        return [], [], []
    indices, images, masks = [], [], []
    for row in range(min(len(kept.indices), most)):
        image, mask = np.asarray(values[row]), np.squeeze(np.asarray(kept.target[row]))
        if mask.ndim == 2 and is_image_shape(image.shape) and image.dtype.kind in "biuf":
            indices.append(int(kept.indices[row]))
            images.append(colours_last(image))
            masks.append(mask)
    return indices, images, masks


def colours_last(image: Any) -> NDArray[np.float64]:
    axis = channel_axis(image.shape)
    moved = image[..., None] if axis is None else np.moveaxis(image, axis, -1)
    return np.nan_to_num(np.asarray(moved, dtype=np.float64))
