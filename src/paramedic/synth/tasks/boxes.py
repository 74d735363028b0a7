"""Object detection on empty patches: a box is drawn at random and filled with the value of its class."""

from __future__ import annotations

import numpy as np

from paramedic.synth.task import Array, Draw, Rung, Task
from paramedic.synth.tasks.shapes import eight_bit


def draw(
    rng: np.random.Generator,
    n: int,
    *,
    size: int = 16,
    channels: int = 1,
    classes: int = 2,
    objects: int = 1,
    sizes: str = "any",
    fill: str = "value",
    clutter: float = 0.0,
) -> Draw:
    return boxes(rng, n, 2, size, channels, classes, objects, sizes, fill, clutter)


def boxes(
    rng: np.random.Generator,
    n: int,
    axes: int,
    size: int,
    channels: int,
    classes: int,
    objects: int,
    sizes: str,
    fill: str,
    clutter: float,
) -> Draw:
    """Each object has a strip of the patch to itself, so that none hides another; they come from left to right."""
    label = rng.integers(0, classes, (n, objects))
    strip = size // objects
    most = np.array([strip, *[size] * (axes - 1)])  # x comes first
    least = np.maximum(most // 4, 2)
    extent = rng.integers(least, most * 3 // 4 + 1, (n, objects, axes)) if sizes == "any" else most // 2
    extent = np.broadcast_to(extent, (n, objects, axes))
    low = (rng.random((n, objects, axes)) * (most - extent + 1)).astype(int)
    low[..., 0] += strip * np.arange(objects)
    picture = rng.uniform(0, clutter, (n, *[size] * axes)) if clutter else np.zeros((n, *[size] * axes))
    for sample in range(n):
        for thing in range(objects):
            start, end = low[sample, thing], low[sample, thing] + extent[sample, thing]
            where = tuple(slice(int(a), int(b)) for a, b in zip(start[::-1], end[::-1], strict=True))
            picture[sample][where] = _filling(label[sample, thing], classes, fill, start[0], end[0], size)
    corners = np.concatenate([low, low + extent], axis=2) / size
    x = np.repeat(eight_bit(picture)[:, None], channels, axis=1)
    middle = corners[:, 0, 0] + corners[:, 0, axes]
    return Draw(
        inputs=x,
        target={"boxes": corners.astype(np.float32), "labels": label},
        risk=np.zeros(n),
        place=np.clip(2 * (objects * middle - 1) + (objects > 1), -1, 1),
    )


def _filling(label: int, classes: int, fill: str, left: int, right: int, size: int) -> float | Array:
    """The value of the class, or a regression on the column around it."""
    value = (label + 1) / (classes + 0.5)
    if fill == "value":
        return value
    column = 2 * np.arange(left, right) / size - 1
    return value + 0.3 / (classes + 0.5) * np.sin(8 * (column - 1.2))


RUNGS = (
    Rung(
        name="one size",
        needs="places: a global average pool before the box head throws them away",
        settings={"sizes": "one"},
    ),
    Rung(name="any size", needs="box corners in fractions of the patch, low corner first, x before y"),
    Rung(
        name="filled by a regression of the column",
        needs="a nonlinearity between pixels and class",
        settings={"fill": "regression"},
    ),
    Rung(
        name="among clutter",
        needs="filters with a neighbourhood that tell a box from noise",
        settings={"clutter": 0.3},
    ),
)

TASK = Task(
    name="boxes",
    summary="object detection in 2-D: boxes (x₀, y₀, x₁, y₁ in fractions of the patch) and their classes",
    goal="boxes",
    form="image",
    draw=draw,
    usual=2,
    gap="boxes near the left and right edge",
    rungs=RUNGS,
)
