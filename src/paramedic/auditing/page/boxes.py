"""Boxes drawn over their image, or over an empty one of its size where only the boxes are known."""

from __future__ import annotations

import numpy as np

from paramedic.audit.chunk import Array, Boxes
from paramedic.audit.sketches.pictures import channel_axis, shrunk
from paramedic.auditing.page.png import Span

SIDE = 96  # pixels
GROUND = 235
COLOUR = (213, 94, 0)


def drawn(boxes: Boxes, image: Array | None, span: Span) -> Array:
    """A colour picture, at most SIDE pixels wide and high; boxes that leave the image are cut at its edge."""
    corners = boxes.numbers.copy()
    if boxes.declared == "xywh":
        corners[:, 2:] += corners[:, :2]
    width, height = boxes.size or _extent(corners)
    scale = SIDE / max(width, height, 1)
    canvas = _canvas(image, span, max(1, round(height * scale)), max(1, round(width * scale)))
    for x1, y1, x2, y2 in np.nan_to_num(corners * scale):
        left, right = (int(np.clip(x, 0, canvas.shape[1] - 1)) for x in (x1, x2))
        top, bottom = (int(np.clip(y, 0, canvas.shape[0] - 1)) for y in (y1, y2))
        left, right = min(left, right), max(left, right)
        top, bottom = min(top, bottom), max(top, bottom)
        canvas[[top, bottom], left : right + 1] = COLOUR
        canvas[top : bottom + 1, [left, right]] = COLOUR
    return canvas


def _extent(corners: Array) -> tuple[int, int]:
    high = np.nanmax(np.nan_to_num(corners), axis=0)
    return int(max(high[0], high[2], 1)), int(max(high[1], high[3], 1))


def _canvas(image: Array | None, span: Span, height: int, width: int) -> Array:
    if image is None:
        return np.full((height, width, 3), GROUND, dtype=np.uint8)
    axis = channel_axis(image.shape)
    planes = np.moveaxis(image, axis, 0)[:3] if axis is not None else image[None]
    planes = np.repeat(planes[:1], 3, axis=0) if len(planes) < 3 else planes
    small = shrunk(planes.astype(np.float32), height, width)
    low, high = span
    return np.moveaxis(np.clip((small - low) / (high - low) * 255, 0, 255), 0, -1).astype(np.uint8)
