"""Ranking pairs: which of two items is better, with P(first) = sigmoid(s · (f(a) − f(b))) (Bradley and Terry)."""

from __future__ import annotations

import numpy as np

from paramedic.synth.task import Draw, Rung, Task
from paramedic.synth.tasks.link import sigmoid


def draw(rng: np.random.Generator, n: int, *, dims: int = 4, frequency: float = 0.0, sharpness: float = 50.0) -> Draw:
    """Inputs are pairs of items (n, 2, dims); the target is the index of the better: two scores are its logits."""
    x = rng.uniform(-1, 1, (n, 2, dims))
    f = np.sin(frequency * (x[..., 0] - 1.2)) if frequency else x.sum(axis=2) / np.sqrt(dims)
    p = sigmoid(sharpness * (f[:, 0] - f[:, 1]))
    y = (rng.random(n) >= p).astype(np.int64)
    return Draw(inputs=x.astype(np.float32), target=y, risk=np.minimum(p, 1 - p), place=x[:, 0, 0])


TASK = Task(
    name="ranking",
    summary="which of two items is better, from noisy comparisons",
    goal="classes",
    form="tabular",
    draw=draw,
    usual=2,
    gap="x₀ of the first item beyond ±0.8",
    rungs=(
        Rung(name="a sum decides, clearly", needs="one score per item, by the same weights for both"),
        Rung(name="a sum decides, noisily", needs="scores that reach the loss unchanged", settings={"sharpness": 4.0}),
        Rung(
            name="a wave of the first column decides",
            needs="a nonlinearity inside the score",
            settings={"frequency": 3.0, "sharpness": 10.0},
        ),
    ),
)
