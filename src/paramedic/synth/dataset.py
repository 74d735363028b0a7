"""A part of a synthetic task as a torch Dataset."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils.data import Dataset

from paramedic.aliases import Fields
from paramedic.synth.sampling import BLOCK, Source
from paramedic.synth.task import Draw


class SynthDataset(Dataset[Any]):
    """Map-style and deterministic; `risk` says how well the best possible model does on it."""

    def __init__(self, source: Source, n: int) -> None:
        self.source, self.n = source, n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        if not -self.n <= index < self.n:
            raise IndexError(f"sample {index} of {self.n}")
        index %= self.n
        one = self.source.block(index // BLOCK)
        inputs, target = tensors(one.take(slice(index % BLOCK, index % BLOCK + 1)))
        return inputs[0], {k: v[0] for k, v in target.items()} if isinstance(target, dict) else target[0]

    @property
    def risk(self) -> float:
        """The error of the best possible model on exactly these samples: Bayes error or noise variance."""
        return float(self.source.arrays(self.n).risk.mean())

    def __getstate__(self) -> dict[str, object]:
        """For workers that are spawned: the cache stays behind."""
        source = self.source
        plain = (source.task.name, source.settings, source.seed, source.split, source.part)
        return {"plain": plain, "n": self.n}

    def __setstate__(self, state: Fields) -> None:
        from paramedic.synth.catalogue import find

        name, settings, seed, split, part = state["plain"]
        self.source = Source(find(name), None, settings, seed=seed, split=split, part=part)
        self.n = state["n"]


def tensors(draw: Draw) -> tuple[Any, Any]:
    """Inputs and target as torch tensors of their own."""
    target = draw.target
    inputs = torch.from_numpy(draw.inputs.copy())
    if isinstance(target, dict):
        return inputs, {name: torch.from_numpy(values.copy()) for name, values in target.items()}
    return inputs, torch.from_numpy(target.copy())
