"""Arrays as PNG pictures in the page itself; needs nothing but zlib."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np

from paramedic.audit.chunk import Array
from paramedic.audit.sketches.pictures import channel_axis, shrunk

LARGEST = 96  # pixels


def data_uri(image: Array) -> str:
    """A grey or colour image of any value range, at most LARGEST pixels wide and high."""
    planes = _planes(np.nan_to_num(np.asarray(image, dtype=np.float32)))
    low, high = float(planes.min()), float(planes.max())
    if low < 0 or not 64 < high <= 255:  # otherwise these are pixels already
        planes = (planes - low) / max(high - low, 1e-12) * 255
    rows = np.moveaxis(np.clip(planes, 0, 255).astype(np.uint8), 0, -1)
    return "data:image/png;base64," + base64.b64encode(_png(rows)).decode()


def _planes(image: Array) -> Array:
    axis = channel_axis(image.shape)
    planes = image[None] if axis is None else np.moveaxis(image, axis, 0)
    planes = planes[:3] if len(planes) >= 3 else planes[:1]
    height, width = planes.shape[1:]
    scale = min(1.0, LARGEST / max(height, width))
    if scale < 1:
        planes = shrunk(planes, max(1, round(height * scale)), max(1, round(width * scale)))
    return planes


def _png(rows: Array) -> bytes:
    height, width, channels = rows.shape
    lines = b"".join(b"\0" + rows[y].tobytes() for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2 if channels == 3 else 0, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    body = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + body
