"""What pictures and their targets are compared by."""

from __future__ import annotations

import torch

SMALLEST = 8  # pixels along a side
COLOURS = 4  # more channels than that are features, of which the mean is looked at
AXES = {"left and right": (-1,), "top and bottom": (-2,), "both": (-1, -2)}


def basis(pictures: torch.Tensor) -> torch.Tensor:
    """Of each picture's colours, orthonormal: (sample, pixel, colour)."""
    few = pictures if pictures.shape[1] <= COLOURS else pictures.mean(1, keepdim=True)
    colours = [channel - channel.mean((-1, -2), keepdim=True) for channel in few.unbind(1)]
    found: list[torch.Tensor] = []
    for colour in (channel.flatten(1) for channel in colours):
        size = torch.linalg.vector_norm(colour, dim=1, keepdim=True)
        for before in found:
            colour = colour - (colour * before).sum(1, keepdim=True) * before
        length = torch.linalg.vector_norm(colour, dim=1, keepdim=True)
        new = length > 1e-3 * size + 1e-6  # else it is a mixture of the others, and what is left is rounding
        found.append(torch.where(new, colour / length.clamp(min=1e-6), torch.zeros_like(colour)))
    return torch.stack(found, dim=2)
