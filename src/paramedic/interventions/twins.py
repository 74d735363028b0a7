"""The learnable twin of one stream of batches, for scripts that show inputs first and targets only later."""

from __future__ import annotations

from typing import Any

import torch

from paramedic.errors import ParamedicError
from paramedic.synth.twinning import Twins


class Twin:
    """The first batch passes as it is and is remembered; later ones are made of its samples, inputs from targets."""

    def __init__(self) -> None:
        self.refused: str | None = None
        self._dice = torch.Generator().manual_seed(1)
        self._first: list[torch.Tensor] = []  # the inputs of the first batch
        self._example: torch.Tensor | None = None  # and its target
        self._twins: Twins | None = None
        self._made: torch.Tensor | None = None  # the target of the inputs at hand, until it is asked for

    @property
    def has_inputs(self) -> bool:
        return bool(self._first)

    def inputs(self, inputs: list[torch.Tensor]) -> list[torch.Tensor] | None:
        """Inputs that tell a target drawn for them; None when no twin can be made."""
        if not self._first:
            self._first = [tensor.detach().clone() for tensor in inputs]
            return inputs
        if self._example is None or len(self._example) != len(self._first[0]):
            self.refused = "the batch holds no target that could be told from the inputs"
            return None
        batch = self._drawn(inputs, self._example)
        if batch is None:
            self.refused = "inputs and targets with a value per place change their shape from batch to batch"
            return None
        try:
            self._twins = self._twins or Twins((*self._first, self._example), seed=1)
        except ParamedicError as error:
            self.refused = error.what
            return None
        *made, self._made = self._twins(batch)
        return made

    def target(self, target: torch.Tensor) -> torch.Tensor:
        if self._example is None:
            self._example = target.detach().clone()
        made, self._made = self._made, None
        if made is None or made.shape != target.shape:
            return target
        return made.to(target.device, target.dtype)

    def _drawn(self, inputs: list[torch.Tensor], example: torch.Tensor) -> tuple[Any, ...] | None:
        """As many samples of the first batch as there are inputs now, in shapes that fit what is not changed."""
        rows = torch.randint(0, len(example), (len(inputs[0]),), generator=self._dice)
        if all(now.shape[1:] == then.shape[1:] for now, then in zip(inputs, self._first, strict=True)):
            return (*(tensor[rows.to(tensor.device)] for tensor in self._first), example[rows.to(example.device)])
        return (*inputs, example[rows.to(example.device)]) if example.dim() == 1 else None
