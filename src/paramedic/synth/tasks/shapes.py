"""Image classification on empty patches: by brightness, by texture, by how two dots lie to each other."""

from __future__ import annotations

import numpy as np

from paramedic.synth.task import Array, Draw, Rung, Task, flipped


def draw(
    rng: np.random.Generator,
    n: int,
    *,
    size: int = 16,
    channels: int = 1,
    classes: int = 4,
    by: str = "brightness",
    flip: float = 0.0,
) -> Draw:
    label = rng.integers(0, classes, n)
    side = size // 2
    corner = rng.integers(0, size - side + 1, (n, 2))
    picture = np.zeros((n, size, size))
    patch = {"brightness": _plain, "texture": _striped, "relation": _dotted}[by](rng, label, classes, side)
    for i, (top, left) in enumerate(corner):
        picture[i, top : top + side, left : left + side] = patch[i]
    picture += rng.uniform(0, 0.3 / classes, picture.shape)  # less than half the step between two classes
    x = np.repeat(eight_bit(picture)[:, None], channels, axis=1)
    place = 2 * corner[:, 1] / (size - side) - 1
    return Draw(inputs=x, target=flipped(rng, label, classes, flip), risk=np.full(n, flip), place=place)


def eight_bit(values: Array) -> Array:
    """Brightness in [0, 1] as a PNG can hold it, so that files read back equal."""
    return (np.round(np.clip(values, 0, 1) * 255) / 255).astype(np.float32)


def _plain(rng: np.random.Generator, label: Array, classes: int, side: int) -> Array:
    return np.broadcast_to(((label + 1) / (classes + 1))[:, None, None], (len(label), side, side))


def _striped(rng: np.random.Generator, label: Array, classes: int, side: int) -> Array:
    """Stripes whose angle is the class; where they begin is chance."""
    angle = np.pi * label / classes
    row, col = np.mgrid[:side, :side]
    along = np.cos(angle)[:, None, None] * col + np.sin(angle)[:, None, None] * row
    phase = rng.uniform(0, 2 * np.pi, len(label))[:, None, None]
    return 0.4 + 0.3 * np.sin(2 * np.pi * along / 4 + phase)


def _dotted(rng: np.random.Generator, label: Array, classes: int, side: int) -> Array:
    """A bright dot in the middle and a dim one around it: its direction is the class."""
    angle, far, middle = 2 * np.pi * label / classes, side // 2 - 1, side // 2
    row = np.round(middle - far * np.sin(angle)).astype(int)
    col = np.round(middle + far * np.cos(angle)).astype(int)
    made = np.zeros((len(label), side, side))
    made[:, middle, middle] = 0.9
    made[np.arange(len(label)), row, col] = 0.5
    return made


TASK = Task(
    name="shapes",
    summary="image classification by brightness, texture or relation",
    goal="classes",
    form="image",
    draw=draw,
    usual=2,
    gap="patches at the left and right edge",
    rungs=(
        Rung(
            name="brightness of a patch",
            needs="a way from pixels to classes: a normalisation per image, or integer pixels, wipe brightness out",
        ),
        Rung(
            name="angle of stripes",
            needs="filters with a neighbourhood, and a nonlinearity before pixels are averaged",
            settings={"by": "texture"},
        ),
        Rung(
            name="how two dots lie to each other",
            needs="a receptive field of half the picture that keeps places apart: early pooling loses them",
            settings={"by": "relation"},
        ),
        Rung(
            name="stripes, one label in ten wrong",
            needs="restraint: it memorises wrong labels",
            settings={"by": "texture", "flip": 0.1},
        ),
    ),
)
