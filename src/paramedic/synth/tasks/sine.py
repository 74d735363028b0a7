"""Regression on a curve that bends: y = sin(8(x − 1.2)) + ε, x ~ U(−1, 1), ε ~ N(0, 0.01²)."""

from __future__ import annotations

import numpy as np

from paramedic.synth.task import Draw, Rung, Task, column


def draw(rng: np.random.Generator, n: int, *, dims: int = 1, frequency: float = 8.0, noise: float = 0.01) -> Draw:
    """In d dimensions the waves of all coordinates are added, scaled to keep the variance."""
    x = rng.uniform(-1, 1, (n, dims))
    y = np.sin(frequency * (x - 1.2)).sum(axis=1) / np.sqrt(dims) + noise * rng.standard_normal(n)
    risk = np.full(n, noise**2)
    return Draw(inputs=x.astype(np.float32), target=column(y), risk=risk, place=x[:, 0])


TASK = Task(
    name="sine",
    summary="regression on sin(8(x − 1.2)) in one or more dimensions",
    goal="values",
    form="tabular",
    draw=draw,
    usual=3,
    gap="x₀ beyond ±0.8",
    rungs=(
        Rung(
            name="nearly a line",
            needs="a way from the input to the output, and a bias: check that the optimizer has the parameters",
            settings={"frequency": 0.5},
        ),
        Rung(
            name="one bend: sin(3(x − 1.2))",
            needs="a nonlinearity between its layers (without one, any stack of layers is one line)",
            settings={"frequency": 3.0},
        ),
        Rung(
            name="waves: sin(8(x − 1.2))",
            needs="enough units, an initialisation that places their kinks inside the data, or a larger learning rate",
        ),
        Rung(
            name="waves under noise (σ = 0.3)",
            needs="restraint: it fits noise; less capacity, regularisation, or a smaller learning rate",
            settings={"noise": 0.3},
        ),
    ),
)
