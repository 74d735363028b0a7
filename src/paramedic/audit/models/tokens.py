"""Sequences of token ids with an id that no embedding has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from paramedic.audit.audit import Split

NAMES = ("input_ids", "token_ids", "ids", "tokens", "input", "inputs")


def outside(split: Split) -> tuple[str, dict[int, int]] | None:
    """The input, and {sample: id} for ids below 0 or beyond the vocabulary; None where there are no such sequences."""
    named = [name for name in NAMES if name in split.sketch.inputs]
    size = split.source.vocabulary
    if not named or size is None:
        return None
    found: dict[int, int] = {}
    for chunk in split.source.read():
        for index, ids in zip(chunk.indices.tolist(), chunk.inputs.get(named[0], ()), strict=False):
            numbers = np.asarray(ids)
            if numbers.dtype.kind not in "iu":
                return None
            strange = numbers[(numbers < 0) | (numbers >= size)]
            if strange.size:
                found[int(index)] = int(strange.flat[0])
    return named[0], found
