"""Reverse a sequence: impossible without positions, and without a look at all of the input."""

from __future__ import annotations

import numpy as np

from paramedic.synth.task import Draw, Rung, Task


def draw(
    rng: np.random.Generator, n: int, *, length: int = 8, symbols: int = 10, used: int = 8, mirror: bool = False
) -> Draw:
    """Symbols are 1 to `symbols`; only the first `used` places are filled and reversed, the rest is 0."""
    used = min(used, length)
    x = rng.integers(1, symbols + 1, (n, length))
    if mirror:
        x[:, used - used // 2 : used] = x[:, : used // 2][:, ::-1]
    x[:, used:] = 0
    y = x.copy()
    y[:, :used] = x[:, :used][:, ::-1]
    return Draw(inputs=x, target=y, risk=np.zeros(n))


TASK = Task(
    name="reverse",
    summary="the sequence backwards",
    goal="classes",
    form="tokens",
    draw=draw,
    usual=3,
    rungs=(
        Rung(
            name="palindromes, which stay as they are",
            needs="an embedding and a head: check vocabulary size and the axis of the classes",
            settings={"mirror": True},
        ),
        Rung(
            name="four symbols, then padding",
            needs="positions (an attention layer without them sees a bag of symbols), or a view of what comes later",
            settings={"used": 4},
        ),
        Rung(name="the whole length", needs="a view of the whole input from every place"),
    ),
)
