"""Samples held back by what is in them, where a script makes its batches by itself (of NumPy arrays, say).

Nobody knows their numbers then. A sample is told by its content, so that it is on the same side in every pass. Those of
the other side are exchanged for samples of the same batch, and their targets with them.
"""

from __future__ import annotations

import zlib

import torch

from paramedic.interventions.surroundings import Inputs, Surroundings

FEWEST = 10  # samples in a batch


class ByContent:
    """Rows of a batch, chosen where the model is given its inputs and again where the loss takes the targets."""

    def __init__(self, surroundings: Surroundings, begins: int, fold: int, folds: int) -> None:
        self.surroundings, self.begins, self.fold, self.folds = surroundings, begins, fold, folds
        self.rows: torch.Tensor | None = None
        self.open = False  # inputs were chosen, and their targets not yet

    def inputs(self, inputs: Inputs) -> Inputs:
        if self.surroundings.loader_used:
            return inputs
        size = len(inputs[0])
        if size < FEWEST or any(len(tensor) != size for tensor in inputs):
            self.surroundings.failed = "what the model is given has no rows that belong together"
            return inputs
        exam = self.surroundings.step >= self.begins
        wanted = (self._folds(inputs) == self.fold) == exam
        if not wanted.any():
            return inputs
        places = wanted.nonzero().ravel()
        everyone = torch.arange(size)
        self.rows = torch.where(wanted, everyone, places[everyone % len(places)])
        self.open = True
        self.surroundings.applied += 1
        if exam:
            self.surroundings.noted["examined"] = True
        return [tensor[self.rows.to(tensor.device)] for tensor in inputs]

    def target(self, target: torch.Tensor) -> torch.Tensor:
        if self.surroundings.loader_used or self.rows is None:
            return target
        if len(target) != len(self.rows):
            self.surroundings.failed = "there is not one target for each row that the model is given"
            return target
        self.open = False
        return target[self.rows.to(target.device)]

    def stepped(self) -> None:
        if self.open and not self.surroundings.loader_used:
            self.surroundings.failed = "the targets of what the model is given were not found"

    def _folds(self, inputs: Inputs) -> torch.Tensor:
        told = torch.cat([tensor.detach().cpu().reshape(len(tensor), -1).double() for tensor in inputs], 1).numpy()
        return torch.tensor([(zlib.crc32(row.tobytes()) >> 8) % self.folds for row in told])
