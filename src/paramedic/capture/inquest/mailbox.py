"""An accelerator's loss in short steps: sent without an event, and read where it lies once it is there.

In short steps the host is the slower of the two: by the time it has handed out the backward pass, the loss has long
arrived. To record an event and to ask for it would take the host longer than all the rest.
"""

from __future__ import annotations

import numpy
import torch

EMPTY = 0x7FEDCBA9  # the bits of a NaN that no computation gives
MOST_LATE = 8  # times that the accelerator was slower, after which events are better


class Mailbox:
    """Room for one number in the host's memory."""

    def __init__(self) -> None:
        self._host: torch.Tensor | None = None
        self._number = numpy.zeros(1, numpy.float32)
        self._bits = self._number.view(numpy.int32)
        self._late = 0

    def send(self, loss: torch.Tensor) -> bool:
        """Whether the loss is on its way, and the one before it has arrived."""
        if self._bits[0] == EMPTY or loss.dtype is not torch.float32 or self._late >= MOST_LATE:
            return False
        if self._host is None:
            self._host = torch.empty((), dtype=torch.float32, device="cpu", pin_memory=loss.is_cuda)
            self._number = self._host.numpy().reshape(1)
            self._bits = self._number.view(numpy.int32)
        self._bits[0] = EMPTY
        self._host.copy_(loss.detach(), non_blocking=True)
        return True

    def take(self) -> float | None:
        """What was sent last; None if it is still under way."""
        if self._bits[0] == EMPTY:
            self._late += 1
            return None
        return float(self._number[0])
