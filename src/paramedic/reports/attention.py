"""What attention looked at: the first and the last map of each layer."""

from __future__ import annotations

import base64
import math
from collections import defaultdict
from dataclasses import dataclass

from paramedic.record.facts import Attention, AttentionHead
from paramedic.record.reader import Run
from paramedic.reports import png
from paramedic.reports.heat import FIRST, LAST, PALETTE_BYTES

WIDTH = 112  # pixels on the page
SHADES = 32  # the eye tells no more apart here, and a page may hold hundreds of maps


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """One head's map."""

    image: str  # a data URI
    number: int
    entropy: str
    diagonality: str
    looks_at: tuple[str, ...]  # the key with the largest weight, a row each


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One layer at one step."""

    title: str
    note: str
    heads: tuple[Head, ...]
    queries: tuple[str, ...]  # what the rows stand for
    key: str  # names the layer and the step in the page
    width: int = WIDTH


def layers(run: Run) -> tuple[Layer, ...]:
    """In the order in which they were first called."""
    places: defaultdict[tuple[str, str], list[Attention]] = defaultdict(list)
    for found in run.facts(Attention):
        places[found.module or "", found.line].append(found)
    chosen = [one for looks in places.values() for one in (looks[:1] if len(looks) < 2 else [looks[0], looks[-1]])]
    return tuple(drawn(one) for one in chosen)


def drawn(one: Attention) -> Layer:
    few = f"{len(one.heads)} of {one.of} heads" if len(one.heads) < one.of else ""
    size = f"{one.queries:,} queries × {one.keys:,} keys"
    parts = [one.kind, one.line if one.where.file else "", size, few, "one sample of the batch"]
    return Layer(
        title=f"{one.module or 'Attention'} at step {one.step:,}",
        note=" · ".join(filter(None, parts)),
        heads=tuple(_head(number, head, one) for number, head in enumerate(one.heads)),
        queries=tuple(_positions(row, one.rows, one.queries) for row in range(one.rows)),
        key=f"attention-{one.id}",
    )


def _head(number: int, head: AttentionHead, one: Attention) -> Head:
    grey = base64.b64decode(head.map)
    width = len(grey) // one.rows
    rows = [grey[n * width : (n + 1) * width] for n in range(one.rows)]
    pixels = [bytes(value * (SHADES - 1) // 255 for value in row) for row in rows]
    return Head(
        image=png.data_uri(width, pixels, kind=png.PALETTE, palette=_PALETTE),
        number=number,
        entropy=_shown(head.entropy),
        diagonality=_shown(head.diagonality),
        looks_at=tuple(_positions(row.index(max(row)), width, one.keys) if any(row) else "" for row in rows),
    )


def _positions(place: int, places: int, size: int) -> str:
    """What a row or column of a map stands for: a position, or the first and last one of several."""
    first, last = place * size // places, max((place + 1) * size // places - 1, place * size // places)
    return f"{first:,}" if first == last else f"{first:,}–{last:,}"


def _shown(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−") if math.isfinite(value) else "unknown"


_COLOURS = [FIRST + n * (LAST - FIRST) // (SHADES - 1) for n in range(SHADES)]
_PALETTE = b"".join(PALETTE_BYTES[3 * colour : 3 * colour + 3] for colour in _COLOURS)
