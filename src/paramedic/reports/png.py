"""PNG pictures inside a page: needs nothing but zlib."""

from __future__ import annotations

import base64
import struct
import zlib

GREY, COLOUR, PALETTE = 0, 2, 3


def data_uri(width: int, rows: list[bytes], *, kind: int, palette: bytes = b"", alpha: bytes = b"") -> str:
    """Rows of 8-bit pixels; with PALETTE, `palette` holds three bytes per colour and `alpha` one."""
    header = struct.pack(">IIBBBBB", width, len(rows), 8, kind, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 9)
    parts = [(b"IHDR", header), (b"PLTE", palette), (b"tRNS", alpha), (b"IDAT", pixels)]
    kept = [(name, data) for name, data in parts if data]
    body = b"".join(_chunk(name, data) for name, data in [*kept, (b"IEND", b"")])
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + body).decode()


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
