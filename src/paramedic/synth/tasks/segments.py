"""Segmentation: the class of every pixel, of a box on an empty patch."""

from __future__ import annotations

import numpy as np

from paramedic.synth.task import Array, Draw, Rung, Task, flipped
from paramedic.synth.tasks.shapes import eight_bit


def draw(
    rng: np.random.Generator, n: int, *, size: int = 16, channels: int = 1, by: str = "brightness", flip: float = 0.0
) -> Draw:
    """Three classes: empty, and two kinds of box, told apart by brightness, texture or outline (wide or tall)."""
    kind = rng.integers(1, 3, n)
    long, short = rng.integers(size // 2, size - 2, n), rng.integers(size // 4, size // 2, n)
    wide = kind == 1 if by == "outline" else rng.random(n) < 0.5
    height, width = np.where(wide, short, long), np.where(wide, long, short)
    top = (rng.random(n) * (size - height + 1)).astype(int)
    left = (rng.random(n) * (size - width + 1)).astype(int)
    row, col = np.mgrid[:size, :size]
    inside = between(row, top, height) & between(col, left, width)
    value = np.full((n, size, size), 0.6)
    if by == "brightness":
        value = value * np.where(kind == 1, 0.5, 1.5)[:, None, None]
    elif by == "texture":
        value = np.where(np.where((kind == 1)[:, None, None], row, col) % 2, 0.4, 0.8)
    picture = np.where(inside, value, 0.0) + rng.uniform(0, 0.1, value.shape)
    x = np.repeat(eight_bit(picture)[:, None], channels, axis=1)
    y = flipped(rng, np.where(inside, kind[:, None, None], 0), 3, flip)
    place = 2 * (left + width / 2) / size - 1
    return Draw(inputs=x, target=y, risk=np.full(n, flip), place=1.6 * place)


def between(at: Array, start: Array, extent: Array) -> Array:
    """For each sample, which places lie in its stretch."""
    return (at >= start[:, None, None]) & (at < (start + extent)[:, None, None])


TASK = Task(
    name="segments",
    summary="segmentation: the class of every pixel",
    goal="classes",
    form="image",
    draw=draw,
    usual=2,
    gap="boxes near the left and right edge",
    rungs=(
        Rung(name="brightness of the pixel", needs="an output per pixel, with the classes on axis 1"),
        Rung(
            name="texture around the pixel",
            needs="filters with a neighbourhood, and a nonlinearity",
            settings={"by": "texture"},
        ),
        Rung(
            name="outline of the whole box",
            needs="a receptive field as large as the box, at full resolution",
            settings={"by": "outline"},
        ),
        Rung(
            name="texture, one pixel label in ten wrong",
            needs="restraint: it memorises wrong labels",
            settings={"by": "texture", "flip": 0.1},
        ),
    ),
)
