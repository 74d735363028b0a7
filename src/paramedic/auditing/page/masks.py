"""A mask laid over its image, one colour per class; the lowest class, usually the ground, stays clear."""

from __future__ import annotations

import numpy as np

from paramedic.audit.chunk import Array
from paramedic.audit.sketches.pictures import channel_axis
from paramedic.auditing.page.png import Span

# Told apart by nearly everybody (Okabe and Ito).
COLOURS = np.asarray(
    [(213, 94, 0), (0, 114, 178), (0, 158, 115), (240, 228, 66), (204, 121, 167), (86, 180, 233), (230, 159, 0)]
)
STRENGTH = 0.55


def overlaid(image: Array, mask: Array | None, span: Span) -> tuple[Array, Span]:
    """With its span; the image as it is where there is no mask, or one of another size."""
    axis = channel_axis(image.shape)
    planes = image[None] if axis is None else np.moveaxis(image, axis, 0)
    if mask is None or planes.shape[1:] != mask.shape:
        return image, span
    planes = np.nan_to_num(np.asarray(planes[:3] if len(planes) >= 3 else np.repeat(planes[:1], 3, axis=0), np.float32))
    planes = (planes - span[0]) / (span[1] - span[0]) * 255
    classes = np.searchsorted(np.unique(mask), mask)
    colours = np.moveaxis(COLOURS[(classes - 1) % len(COLOURS)], -1, 0)
    blended = np.where(classes > 0, (1 - STRENGTH) * planes + STRENGTH * colours, planes)
    return np.clip(np.moveaxis(blended, 0, -1), 0, 255).astype(np.uint8), (0.0, 255.0)
