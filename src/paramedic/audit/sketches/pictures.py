"""Images made small: a difference hash for looking up, a grey thumbnail and a few colours for looking again."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array, Values

SIDE = 8
THUMB = 16
PATCHES = 4  # by as many: whose colours are kept
FLAT = 0.03  # of a picture's contrast: smaller steps are noise on an even ground
CHANNELS = (1, 3, 4)


def are_images(values: Values) -> TypeGuard[Any]:
    """Whether these are pictures: two long axes, and at most one short one for channels."""
    if isinstance(values, list):
        return bool(values) and all(isinstance(v, np.ndarray) and is_image_shape(v.shape) for v in values[:8])
    return values.dtype.kind in "biuf" and is_image_shape(values.shape[1:])


def large_enough(values: Values) -> bool:
    """Whether there is more in the pictures than in a thumbnail: small ones of one kind all look alike."""
    shape = values[0].shape if isinstance(values, list) else values.shape[1:]
    return sorted(shape)[-2] >= THUMB


def is_image_shape(shape: tuple[int, ...]) -> bool:
    if len(shape) == 2:
        return min(shape) >= SIDE
    channels = channel_axis(shape)
    return channels is not None and min(size for axis, size in enumerate(shape) if axis != channels) >= SIDE


def channel_axis(shape: tuple[int, ...]) -> int | None:
    if len(shape) != 3:
        return None
    if shape[0] in CHANNELS and shape[2] not in CHANNELS:
        return 0
    if shape[2] in CHANNELS and shape[0] not in CHANNELS:
        return 2
    return 0 if shape[0] in CHANNELS else None


def fingerprints(values: Values) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
    """(n, 2) difference hashes, of the picture and of its mirror image; and (n, THUMB * THUMB) thumbnails."""
    if isinstance(values, list):
        parts = [fingerprints(value[None]) for value in values]
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
    grey = to_grey(values)
    hashes = np.stack([difference_hash(grey), difference_hash(grey[:, :, ::-1])], axis=1)
    thumbs = shrunk(grey, THUMB, THUMB)
    low = thumbs.min(axis=(1, 2), keepdims=True)
    span = np.maximum(thumbs.max(axis=(1, 2), keepdims=True) - low, 1e-12)
    return hashes, np.rint((thumbs - low) / span * 255).astype(np.uint8).reshape(len(thumbs), -1)


def patches(values: Values) -> NDArray[np.float32]:
    """(n, 3, PATCHES, PATCHES): the average colour of each part, as it is; a thumbnail is grey and normalised."""
    if isinstance(values, list):
        return np.concatenate([patches(value[None]) for value in values])
    axis = channel_axis(values.shape[1:])
    channels = values[:, None] if axis is None else np.moveaxis(values, axis + 1, 1)
    channels = np.broadcast_to(channels, (len(values), 3, *channels.shape[2:])) if channels.shape[1] == 1 else channels
    with np.errstate(all="ignore"):
        parts = [shrunk(np.nan_to_num(channels[:, c].astype(np.float32)), PATCHES, PATCHES) for c in range(3)]
    return np.stack(parts, axis=1).astype(np.float32)


def to_grey(values: Array) -> Array:
    axis = channel_axis(values.shape[1:])
    grey = values if axis is None else values.mean(axis=axis + 1, dtype=np.float32)
    with np.errstate(all="ignore"):
        return np.nan_to_num(np.asarray(grey, dtype=np.float32))


def difference_hash(grey: Array) -> NDArray[np.uint64]:
    """64 comparisons of neighbours in a 9 x 8 version of the picture (dHash; even ground counts as even)."""
    small = shrunk(grey, SIDE, SIDE + 1)
    contrast = np.ptp(small, axis=(1, 2), keepdims=True)
    bits = (small[:, :, 1:] > small[:, :, :-1] + FLAT * contrast).reshape(len(grey), -1)
    packed: NDArray[np.uint64] = np.packbits(bits, axis=1).view(np.uint64).reshape(-1)
    return packed


def shrunk(grey: Array, height: int, width: int) -> Array:
    """Averages over a grid of boxes, as matrix products: fast for many small pictures."""
    down, across = _averaging(grey.shape[1], height), _averaging(grey.shape[2], width)
    return np.asarray(down @ grey @ across.T)


def _averaging(size: int, pieces: int) -> Array:
    """The matrix that averages `size` values over `pieces` equal intervals, with fractions at the borders."""
    edges = np.linspace(0, size, pieces + 1)
    left, right = edges[:-1, None], edges[1:, None]
    cells = np.arange(size)[None, :]
    overlap = np.clip(np.minimum(right, cells + 1) - np.maximum(left, cells), 0, None)
    return np.asarray(overlap / overlap.sum(axis=1, keepdims=True), dtype=np.float32)
