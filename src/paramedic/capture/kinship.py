"""By what a model and its copies are known, and compared: the shapes of their parameters, and some of the values."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from paramedic.capture.facts import readable
from paramedic.program import anatomy

TENSORS, ELEMENTS = 4, 32  # that are looked at of each model


def shapes(module: nn.Module) -> list[tuple[str, torch.Size]]:
    """Of all parameters, with their names: a copy has the same, also inside a wrapper such as an average."""
    named = [(name, p.shape) for name, p in anatomy.named_parameters(module) if not is_lazy(p)]
    while len(firsts := {name.partition(".")[0] for name, _ in named}) == 1 and all("." in name for name, _ in named):
        wrapper = f"{firsts.pop()}."
        named = [(name.removeprefix(wrapper), shape) for name, shape in named]
    return named


def some_of(model: nn.Module) -> torch.Tensor | None:
    """A few elements of a few of its parameters."""
    chosen = [p.detach().reshape(-1) for p in list(anatomy.parameters(model))[:TENSORS] if readable(p)]
    if not chosen or len({p.device for p in chosen}) > 1:
        return None
    with torch.no_grad():
        return torch.cat([p[:: -(-p.numel() // ELEMENTS)].double() for p in chosen])
