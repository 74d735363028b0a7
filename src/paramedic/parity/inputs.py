"""Inputs from the command line: a file of arrays, a shape, or a function that makes them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import torch

from paramedic.errors import ParamedicError

SHAPE = re.compile(r"^(\d+(?:,\d+)*)(?::int(\d+))?$")


def read_inputs(words: list[str]) -> object:
    """`2,3,32,32`, `2,16:int100` (whole numbers below 100), `inputs.npz`, `batch.pt` or `data.py:make_batch`."""
    if not words:
        return None
    values = [_read(word, number) for number, word in enumerate(words)]
    first = values[0]
    return first if len(values) == 1 else tuple(values)


def _read(word: str, number: int) -> object:
    match = SHAPE.match(word)
    if match:
        random = torch.Generator().manual_seed(number)
        shape = [int(size) for size in match[1].split(",")]
        if match[2]:
            return torch.randint(int(match[2]), shape, generator=random)
        return torch.randn(shape, generator=random)
    if ".py:" in word or (":" in word and not Path(word).exists()):
        from paramedic.synth.factory import load

        return load(word)()
    path = Path(word)
    if not path.exists():
        raise ParamedicError(
            f"--input {word} is neither a file nor a shape",
            expected="2,3,32,32 · 2,16:int100 · inputs.npz · batch.pt · data.py:make_batch",
        )
    if path.suffix in (".npz", ".npy"):
        held = np.load(path, allow_pickle=False)
        if path.suffix == ".npy":
            return torch.as_tensor(held)
        values = tuple(torch.as_tensor(held[name]) for name in held.files)
        return values[0] if len(values) == 1 else values
    from paramedic.parity.checkpoints import load as load_tensors

    return load_tensors(path)
