"""A record as a training would leave it, written by the real writer, without a training."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from paramedic.record.facts import Backward, Model, ParameterPart, Step
from paramedic.record.samples import NewSample
from paramedic.record.summary import COUNT, EDGES, HISTOGRAM, INF, MEAN, NAN, NORM, STD, WIDTH, ZERO
from paramedic.record.writer import Site, Writer

LAYERS = ("net.body.weight", "net.body.bias", "net.head.weight")
OUTPUTS = ("net.body", "net.act", "net.head")
BACKWARD = Site("train.py", 12, "train")


class Recording:
    """A run in progress: `steps` goes on with it, `end` closes it."""

    def __init__(self, folder: Path, **meta: Any) -> None:
        self.folder = folder
        self.step = 0
        known = {"script": "train.py", "command": "python train.py", "rank": 0, "world_size": 1, **meta}
        self.writer = Writer(folder / "main.db", meta=known)
        self.writer.start()
        parameters = [
            ParameterPart(name=name, numel=64, shape=[8, 8], dtype="float32", requires_grad=True) for name in LAYERS
        ]
        model = Model(name="net", class_="Net", modules=[], repeated=[], parameters=parameters)
        self.writer.state(model, step=0, phase="train")

    def steps(self, count: int, *, bad: tuple[int, ...] = ()) -> None:
        """The gradient of the first layer is NaN at the steps `bad`."""
        for _ in range(count):
            step, writer = self.step, self.writer
            taken = Step(optimizer=0, gradients="new", scaled=False, closure=False, first=step == 0)
            backward = Backward(scalar=True, leaf=False, function="cross_entropy")
            writer.state(taken, step=step, phase="train", site=BACKWARD, key="step")
            writer.state(backward, step=step, phase="train", site=BACKWARD, key="backward")
            writer.point("loss:train.py:12", step, 2.0 / (1 + step / 20))
            writer.point("lr:0", step, 0.1)
            writer.point("gradient_norm", step, math.nan if step in bad else 1.0 + step % 3)
            writer.point("memory:rss:main", step, 5e8 + 1e5 * step)
            if step % 10 == 9:
                for batch in (0.1, 0.3):
                    writer.point("eval_loss:train.py:20", step, 2.0 / (1 + step / 20) + batch)
            writer.sample(_samples(step, bad=step in bad))
            self.step += 1
        self.writer.flush()

    def end(self, exit_code: int = 0) -> Path:
        self.writer.set_meta(exit_code=exit_code, seconds=1.0, steps=self.step)
        self.writer.close()
        return self.folder


def _samples(step: int, *, bad: bool) -> list[NewSample]:
    weights = [_row(norm=8.0), _row(norm=0.0, zeros=64), _row(norm=4.0)]
    gradients = [_row(norm=math.nan, nan=3) if bad else _row(norm=0.8), _row(norm=0.1), _row(norm=0.01)]
    updates = [_row(norm=0.008), _row(norm=0.001), _row(norm=0.04)]
    outputs = [_row(norm=8.0), _row(norm=4.0, zeros=32), _row(norm=2.0)]
    rows = (("weight", LAYERS, weights), ("gradient", LAYERS, gradients), ("update", LAYERS, updates))
    return [
        NewSample(step, role, names, np.array(found)) for role, names, found in (*rows, ("output", OUTPUTS, outputs))
    ]


def _row(*, norm: float, zeros: int = 0, nan: int = 0) -> Any:
    row = np.zeros(WIDTH)
    row[[COUNT, NAN, INF, ZERO, MEAN, STD, NORM]] = 64, nan, 0, zeros, 0.0, 1.0, norm
    row[[HISTOGRAM, HISTOGRAM + 2 + EDGES.index(-4)]] = zeros, 64 - zeros  # the others are between 1/16 and 1/4
    return row
