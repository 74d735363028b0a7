"""What a model was given, by name."""

from __future__ import annotations

import inspect
import re

from torch import nn


def argument_name(model: nn.Module, path: str) -> str | None:
    """The name under which a model was given a tensor: "[1]['mask']", or "[0][1]" for its second parameter."""
    named = re.search(r"\['(\w+)'\]$", path)
    place = re.fullmatch(r"\[0\]\[(\d+)\]", path)
    if named or not place:
        return named.group(1) if named else None
    names = [name for name in inspect.signature(model.forward).parameters if name != "self"]
    return names[int(place.group(1))] if int(place.group(1)) < len(names) else None
