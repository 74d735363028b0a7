"""Torch's random states: that of the CPU, and those of the accelerators in use, which live on the host, too."""

from __future__ import annotations

from typing import NamedTuple

import torch


class RandomState(NamedTuple):
    """As it was at one moment."""

    cpu: torch.Tensor
    cuda: list[torch.Tensor]

    def is_that_of(self, other: RandomState) -> bool:
        """Whether nothing was drawn in between."""
        pairs = zip((self.cpu, *self.cuda), (other.cpu, *other.cuda), strict=False)
        return all(torch.equal(mine, theirs) for mine, theirs in pairs)

    def put_back(self) -> None:
        torch.set_rng_state(self.cpu)
        if self.cuda and torch.cuda.is_initialized():
            torch.cuda.set_rng_state_all(self.cuda)


def random_state() -> RandomState:
    """As it is now; a few microseconds, and no device is waited for.

    Taken after every backward pass, so the generators are asked themselves: torch's functions around them take longer.
    """
    in_use = torch.cuda.is_initialized() and not torch.cuda.is_current_stream_capturing()
    on_devices = [generator.get_state() for generator in torch.cuda.default_generators] if in_use else []
    return RandomState(torch.default_generator.get_state(), on_devices)
