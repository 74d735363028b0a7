"""Arrays as PNG pictures in the page itself."""

from __future__ import annotations

import numpy as np

from paramedic.audit.chunk import Array
from paramedic.audit.sketches.pictures import channel_axis, shrunk
from paramedic.reports import png

LARGEST = 96  # pixels


Span = tuple[float, float]  # the values that are shown as black and as white


def span_of(low: float, high: float) -> Span:
    """Of all pictures of a set: those made for the eye lie between 0 and 1 or 0 and 255, others are stretched alike."""
    if low < 0:
        return low, max(high, low + 1e-12)
    return (0.0, 1.0) if high <= 1 else (0.0, 255.0) if high <= 255 else (0.0, high)


def data_uri(image: Array, span: Span = (0.0, 255.0)) -> str:
    """A grey or colour image, at most LARGEST pixels wide and high."""
    low, high = span
    planes = (_planes(np.nan_to_num(np.asarray(image, dtype=np.float32))) - low) / (high - low) * 255
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
