"""Sort a sequence: every place of the answer depends on all of the input."""

from __future__ import annotations

import numpy as np

from paramedic.synth.task import Draw, Rung, Task


def draw(rng: np.random.Generator, n: int, *, length: int = 8, symbols: int = 10, used: int = 10) -> Draw:
    """Symbols are 1 to `symbols`, of which the first `used` occur."""
    x = rng.integers(1, min(used, symbols) + 1, (n, length))
    return Draw(inputs=x, target=np.sort(x, axis=1), risk=np.zeros(n))


TASK = Task(
    name="sort",
    summary="the symbols in rising order",
    goal="classes",
    form="tokens",
    draw=draw,
    usual=3,
    rungs=(
        Rung(
            name="two symbols, which is counting",
            needs="positions in the output, and a view of the whole input from every place",
            settings={"used": 2},
        ),
        Rung(name="four symbols", needs="more capacity between looking and answering", settings={"used": 4}),
        Rung(name="ten symbols", needs="more capacity, or more steps of training"),
    ),
)
