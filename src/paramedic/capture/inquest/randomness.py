"""Torch's random states: that of the CPU, and those of the accelerators in use, which live on the host, too."""

from __future__ import annotations

from typing import NamedTuple

import torch


class RandomState(NamedTuple):
    """As it was at one moment."""

    cpu: torch.Tensor
    cuda: list[torch.Tensor]

    def put_back(self) -> None:
        torch.set_rng_state(self.cpu)
        if self.cuda and torch.cuda.is_initialized():
            torch.cuda.set_rng_state_all(self.cuda)


def random_state() -> RandomState:
    """As it is now; a few microseconds, and no device is waited for."""
    in_use = torch.cuda.is_initialized() and not torch.cuda.is_current_stream_capturing()
    return RandomState(torch.get_rng_state(), torch.cuda.get_rng_state_all() if in_use else [])
