"""Classification through a link: P(y = 1 | x) = sigmoid(s · f(x)), as in a generalised linear model."""

from __future__ import annotations

import numpy as np

from paramedic.synth.task import Array, Draw, Rung, Task


def draw(rng: np.random.Generator, n: int, *, dims: int = 2, frequency: float = 8.0, sharpness: float = 5.0) -> Draw:
    """f(x) = x₀ when the frequency is 0, else sin(frequency · (x₀ − 1.2)); the other columns are idle."""
    x = rng.uniform(-1, 1, (n, dims))
    f = np.sin(frequency * (x[:, 0] - 1.2)) if frequency else x[:, 0]
    p = sigmoid(sharpness * f)
    y = (rng.random(n) < p).astype(np.int64)
    return Draw(inputs=x.astype(np.float32), target=y, risk=np.minimum(p, 1 - p), place=x[:, 0])


def sigmoid(z: Array) -> Array:
    return 1 / (1 + np.exp(-np.clip(z, -60, 60)))


TASK = Task(
    name="link",
    summary="two classes with P(y = 1) = sigmoid(s · sin(8(x₀ − 1.2)))",
    goal="classes",
    form="tabular",
    draw=draw,
    usual=3,
    gap="x₀ beyond ±0.8",
    rungs=(
        Rung(
            name="a threshold on x₀",
            needs="a way from the input to the loss",
            settings={"frequency": 0.0, "sharpness": 50.0},
        ),
        Rung(
            name="a band: sin(3(x₀ − 1.2))",
            needs="a nonlinearity between its layers",
            settings={"frequency": 3.0},
        ),
        Rung(name="five bands: sin(8(x₀ − 1.2))", needs="enough units, or a larger learning rate"),
        Rung(
            name="blurred bands (s = 2)",
            needs="restraint: it memorises labels that are a matter of chance",
            settings={"sharpness": 2.0},
        ),
    ),
)
