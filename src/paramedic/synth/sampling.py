"""Draws that are the same for the same seed and index, however many are asked for, in whatever order.

Samples are drawn in blocks: block b of a part has a random stream of its own.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from paramedic.errors import ParamedicError
from paramedic.synth.task import Array, Draw, Task

BLOCK = 256
EDGE = 0.8  # of the gap split: training inside ±0.8, testing outside
TESTS = 5  # one sample in five is for testing
ROUNDS = 1000  # of drawing and sorting out before a setting is called impossible


class Source:
    """One part of a task: an endless, numbered row of samples."""

    def __init__(
        self, task: Task, level: int | None, settings: Mapping[str, object], *, seed: int, split: str, part: str
    ) -> None:
        if split not in ("random", "gap"):
            raise ParamedicError(f"there is no split {split!r}", expected="random or gap", fix="--split random")
        if split == "gap" and not task.gap:
            raise ParamedicError(
                f"the task {task.name} has no gap split",
                expected="a task whose inputs have a place; `paramedic synth list` marks them",
                fix=f"paramedic synth {task.name} --split random",
            )
        self.task, self.settings = task, task.settings(level, settings)
        self.seed, self.split, self.part = seed, split, part
        self.block = lru_cache(maxsize=32)(self._block)

    def arrays(self, n: int, start: int = 0) -> Draw:
        """Samples `start` to `start + n`."""
        first, last = start // BLOCK, (start + n - 1) // BLOCK
        blocks = joined([self.block(number) for number in range(first, last + 1)])
        return blocks.take(slice(start - first * BLOCK, start - first * BLOCK + n))

    def _block(self, number: int) -> Draw:
        stream = [self.seed, zlib.crc32(self.task.name.encode()), ("train", "test").index(self.part), number]
        rng = np.random.default_rng(stream)
        kept: list[Draw] = []
        for _ in range(ROUNDS):
            draw = self._draw(rng)
            kept.append(draw.take(self._belongs(draw)))
            if sum(len(k.inputs) for k in kept) >= BLOCK:
                return joined(kept).take(slice(0, BLOCK))
        raise ParamedicError(
            f"with these settings {self.task.name} has no samples for the {self.part} part",
            expected="enough different inputs for both parts",
            fix="a longer sequence or more symbols",
        )

    def _draw(self, rng: np.random.Generator) -> Draw:
        try:
            return self.task.draw(rng, BLOCK, **self.settings)
        except (ValueError, KeyError, IndexError, ZeroDivisionError) as error:
            raise ParamedicError(
                f"the task {self.task.name} cannot be drawn with these settings: {error}",
                expected="settings near the usual ones",
                fix=", ".join(f"{name}={value}" for name, value in self.task.settings(None, {}).items()),
            ) from error

    def _belongs(self, draw: Draw) -> Array:
        """Which samples are of this part. Sequences can come twice, so that their content decides."""
        if self.split == "gap" and draw.place is not None:
            outside = np.abs(draw.place) > EDGE
        elif np.issubdtype(draw.inputs.dtype, np.integer):
            outside = np.array([zlib.crc32(row.tobytes()) % TESTS == 0 for row in draw.inputs])
        else:
            return np.ones(len(draw.inputs), dtype=bool)
        return outside if self.part == "test" else ~outside


def joined(draws: list[Draw]) -> Draw:
    first = draws[0]
    if len(draws) == 1:
        return first
    columns = {name: np.concatenate([draw.columns()[name] for draw in draws]) for name in first.columns()}
    inputs = columns.pop("input")
    return Draw(
        inputs=inputs,
        target=columns if isinstance(first.target, dict) else columns["target"],
        risk=np.concatenate([draw.risk for draw in draws]),
        place=None if first.place is None else np.concatenate([d.place for d in draws if d.place is not None]),
    )


def sizes(n: int) -> tuple[int, int]:
    """Training and test samples of n."""
    if n < TESTS:
        raise ParamedicError(f"{n} samples are too few for two parts", expected=f"at least {TESTS}", fix="--n 1000")
    return n - n // TESTS, n // TESTS
