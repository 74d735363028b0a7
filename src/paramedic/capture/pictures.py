"""What pictures and their targets are compared by."""

from __future__ import annotations

import weakref

import torch

from paramedic.aliases import Args, Kwargs
from paramedic.capture.facts import readable
from paramedic.program.tensors import tensors_in

SMALLEST = 8  # pixels along a side
COLOURS = 4  # more channels than that are features, of which the mean is looked at
AXES = {"left and right": (-1,), "top and bottom": (-2,), "both": (-1, -2)}


class Pairing:
    """The pictures that a model was given last, until its answer meets a target of their size."""

    def __init__(self) -> None:
        self._picture: weakref.ref[torch.Tensor] | None = None

    def given(self, args: Args, kwargs: Kwargs) -> None:
        pictures = [t for _, t in tensors_in((args, kwargs)) if t.dim() == 4 and t.dtype.is_floating_point]
        self._picture = weakref.ref(pictures[0]) if len(pictures) == 1 else None

    def forget(self) -> None:
        self._picture = None

    def of(self, prediction: torch.Tensor, target: torch.Tensor) -> torch.Tensor | None:
        """The pictures of this target, if both can be looked at."""
        picture = self._picture() if self._picture is not None else None
        if picture is None or not prediction.requires_grad or target.requires_grad or target.dim() not in (3, 4):
            return None
        sizes = picture.shape[-2:]
        if target.shape[0] != picture.shape[0] or target.shape[-2:] != sizes or min(sizes) < SMALLEST:
            return None
        return picture if readable(picture) and readable(target) else None


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
