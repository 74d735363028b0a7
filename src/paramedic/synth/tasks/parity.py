"""Parity of some of the bits: no subset of them tells anything, so a model must combine them all."""

from __future__ import annotations

import numpy as np

from paramedic.synth.task import Draw, Rung, Task, flipped


def draw(rng: np.random.Generator, n: int, *, length: int = 12, bits: int = 2, flip: float = 0.0) -> Draw:
    """Is the number of ones among the first `bits` odd? With `flip`, that share of the answers is wrong."""
    x = rng.integers(0, 2, (n, length))
    y = flipped(rng, x[:, : min(bits, length)].sum(axis=1) % 2, 2, flip)
    return Draw(inputs=x, target=y, risk=np.full(n, flip))


TASK = Task(
    name="parity",
    summary="is the number of ones among the first k bits odd?",
    goal="classes",
    form="tokens",
    draw=draw,
    usual=2,
    rungs=(
        Rung(name="the first bit", needs="positions: it must know which bit comes first", settings={"bits": 1}),
        Rung(name="two bits (exclusive or)", needs="a nonlinearity between its layers"),
        Rung(
            name="two bits, one answer in ten wrong",
            needs="restraint: it memorises wrong answers",
            settings={"flip": 0.1},
        ),
        Rung(name="three bits", needs="more units, or more steps of training", settings={"bits": 3}),
    ),
)
