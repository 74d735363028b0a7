"""Time series: the next value of a process whose innovations have a known variance, which no forecast can beat."""

from __future__ import annotations

import numpy as np

from paramedic.synth.task import Draw, Rung, Task, column

BURN_IN = 100  # steps until the start is forgotten


def draw(
    rng: np.random.Generator,
    n: int,
    *,
    length: int = 24,
    noise: float = 0.1,
    first: float = 0.95,
    lag: int = 2,
    lagged: float = 0.0,
    bend: bool = False,
) -> Draw:
    """yₜ = first · yₜ₋₁ + lagged · yₜ₋ₗₐ₉ + ε, or with `bend` sin(3 yₜ₋ₗₐ₉) + ε."""
    steps = BURN_IN + length + 1
    y = np.zeros((n, steps))
    shock = noise * rng.standard_normal((n, steps))
    y[:, :lag] = rng.uniform(-1, 1, (n, lag))
    for t in range(lag, steps):
        past = y[:, t - lag]
        y[:, t] = (np.sin(3 * past) if bend else first * y[:, t - 1] + lagged * past) + shock[:, t]
    window = y[:, -length - 1 :]
    return Draw(inputs=window[:, :-1, None].astype(np.float32), target=column(window[:, -1]), risk=np.full(n, noise**2))


TASK = Task(
    name="series",
    summary="forecast of the next value of an autoregressive series",
    goal="values",
    form="series",
    draw=draw,
    usual=2,
    rungs=(
        Rung(
            name="much like the last value", needs="a way from the last step to the output: check which step it reads"
        ),
        Rung(
            name="an oscillation (two lags)",
            needs="more than the last step: order of the time axis, state carried from step to step",
            settings={"first": 1.6, "lagged": -0.95},
        ),
        Rung(
            name="what happened 5 steps ago",
            needs="memory: a longer receptive field, or gradients that survive 5 steps",
            settings={"first": 0.0, "lag": 5, "lagged": 0.95},
        ),
        Rung(
            name="a bend of what happened 5 steps ago",
            needs="memory and a nonlinearity at once",
            settings={"lag": 5, "bend": True},
        ),
    ),
)
