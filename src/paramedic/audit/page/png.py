"""Arrays as PNG pictures in the page itself."""

from __future__ import annotations

import numpy as np

from paramedic.audit.chunk import Array
from paramedic.audit.sketches.pictures import channel_axis, shrunk
from paramedic.reports import png

LARGEST = 96  # pixels


def data_uri(image: Array) -> str:
    """A grey or colour image of any value range, at most LARGEST pixels wide and high."""
    planes = _planes(np.nan_to_num(np.asarray(image, dtype=np.float32)))
    low, high = float(planes.min()), float(planes.max())
    if low < 0 or not 64 < high <= 255:  # otherwise these are pixels already
        planes = (planes - low) / max(high - low, 1e-12) * 255
    rows = np.moveaxis(np.clip(planes, 0, 255).astype(np.uint8), 0, -1)
    kind = png.COLOUR if rows.shape[-1] == 3 else png.GREY
    return png.data_uri(rows.shape[1], [row.tobytes() for row in rows], kind=kind)


def _planes(image: Array) -> Array:
    axis = channel_axis(image.shape)
    planes = image[None] if axis is None else np.moveaxis(image, axis, 0)
    planes = planes[:3] if len(planes) >= 3 else planes[:1]
    height, width = planes.shape[1:]
    scale = min(1.0, LARGEST / max(height, width))
    if scale < 1:
        planes = shrunk(planes, max(1, round(height * scale)), max(1, round(width * scale)))
    return planes
