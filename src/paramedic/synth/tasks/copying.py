"""Copy a sequence, at once or after a delay: what a model must remember, it must carry."""

from __future__ import annotations

import numpy as np

from paramedic.synth.task import Draw, Rung, Task


def draw(rng: np.random.Generator, n: int, *, length: int = 8, symbols: int = 10, delay: int = 0) -> Draw:
    """Symbols are 1 to `symbols`; 0 fills the places before the delay is over."""
    x = rng.integers(1, symbols + 1, (n, length))
    y = np.zeros_like(x)
    delay = min(delay, length - 1)
    y[:, delay:] = x[:, : length - delay]
    return Draw(inputs=x, target=y, risk=np.zeros(n))


TASK = Task(
    name="copy",
    summary="each symbol again, some places later",
    goal="classes",
    form="tokens",
    draw=draw,
    usual=2,
    rungs=(
        Rung(name="in place", needs="an embedding and a head: check vocabulary size and the axis of the classes"),
        Rung(
            name="one place later",
            needs="a look at the neighbour: position information, or state from step to step",
            settings={"delay": 1},
        ),
        Rung(
            name="four places later",
            needs="memory of four symbols: a longer state, or attention that can count places",
            settings={"delay": 4},
        ),
    ),
)
