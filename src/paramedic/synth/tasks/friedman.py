"""Tabular regression: scikit-learn's first Friedman problem, with its product of features and idle columns."""

from __future__ import annotations

import numpy as np

from paramedic.synth.task import Draw, Rung, Task, column


def draw(
    rng: np.random.Generator, n: int, *, dims: int = 10, noise: float = 0.1, linear: bool = False, units: float = 1.0
) -> Draw:
    """The target is scaled to a standard deviation near 1; `units` spoils the scale of every second column."""
    from sklearn.datasets import make_friedman1  # takes a second to import, which the other tasks need not wait for

    state = np.random.RandomState(int(rng.integers(2**31)))
    x, y = make_friedman1(n, n_features=dims, noise=0.0, random_state=state)
    if linear:
        y = 10 * x[:, 3] + 5 * x[:, 4]
    y = (y - (7.5 if linear else 14.4)) / (3.2 if linear else 4.9)
    y = y + noise * rng.standard_normal(n)
    inputs = (2 * x - 1) * np.where(np.arange(dims) % 2, units, 1.0)
    return Draw(inputs=inputs.astype(np.float32), target=column(y), risk=np.full(n, noise**2), place=2 * x[:, 0] - 1)


TASK = Task(
    name="friedman",
    summary="tabular regression: 10 sin(πx₀x₁) + 20(x₂ − ½)² + 10x₃ + 5x₄, the other columns idle",
    goal="values",
    form="tabular",
    draw=draw,
    usual=2,
    gap="x₀ in the outer fifth of its range",
    rungs=(
        Rung(
            name="its linear part",
            needs="a way from every column to the output",
            settings={"linear": True},
        ),
        Rung(
            name="the whole formula",
            needs="a nonlinearity, and layers that mix columns (x₀ and x₁ act as a product)",
        ),
        Rung(
            name="noisy (σ = 0.5)",
            needs="restraint: it fits noise",
            settings={"noise": 0.5},
        ),
        Rung(
            name="every second column in units 1000 times larger",
            needs="inputs brought to one scale: standardise them before the model, or begin with a BatchNorm",
            settings={"units": 1000.0},
        ),
    ),
)
