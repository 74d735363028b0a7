"""Object detection in volumes: the same as boxes, with one axis more."""

from __future__ import annotations

import numpy as np

from paramedic.synth.task import Draw, Task
from paramedic.synth.tasks.boxes import RUNGS, boxes


def draw(
    rng: np.random.Generator,
    n: int,
    *,
    size: int = 8,
    channels: int = 1,
    classes: int = 2,
    objects: int = 1,
    sizes: str = "any",
    fill: str = "value",
    clutter: float = 0.0,
) -> Draw:
    return boxes(rng, n, 3, size, channels, classes, objects, sizes, fill, clutter)


TASK = Task(
    name="boxes3d",
    summary="object detection in 3-D: boxes (x₀, y₀, z₀, x₁, y₁, z₁ in fractions of the volume) and their classes",
    goal="boxes",
    form="volume",
    draw=draw,
    usual=2,
    gap="boxes near the left and right edge",
    rungs=RUNGS,
)
