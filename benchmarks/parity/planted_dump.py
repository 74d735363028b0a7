"""A torch model and a dump of a forward pass that was made elsewhere, in float32."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.parity.case import Made, Planted
from benchmarks.parity.planted_torch import PLANTED
from paramedic.parity.sides import dump
from paramedic.parity.sides.torch_side import TorchSide

WANTED = ("BatchNorm eps", "kernel transposed", "sign of a weight", "gates of TensorFlow 1", "align_corners")


def planted() -> list[Planted]:
    return [
        Planted(name=name, architecture=architecture, pair="torch–dump", make=dumped(make), layers=layers, cause=cause)
        for name, architecture, make, layers, cause in PLANTED
        if name in WANTED
    ]


def dumped(make: Callable[[], Made]) -> Callable[[], Made]:
    def made() -> Made:
        a, b, inputs = make()
        path = Path(tempfile.mkdtemp()) / "dump.npz"
        dump.write(TorchSide(b, label="b").trace((inputs,), {}), (inputs,), path)
        return a, path, inputs

    return made
