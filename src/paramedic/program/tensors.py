"""Find the tensors in what a function takes or returns."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import torch

from paramedic.program.untouched import elements, entries, may_have_entries, shown_key


def tensors_in(value: object, path: str = "", depth: int = 0) -> Iterator[tuple[str, torch.Tensor]]:
    """All tensors in nested lists, tuples, dicts and dataclass-like outputs, with the path to each."""
    if isinstance(value, torch.Tensor):
        yield path, value
    elif depth > 4:
        return
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(islice(elements(value), 64)):
            yield from tensors_in(item, f"{path}[{index}]", depth + 1)
    elif type(value) is dict or may_have_entries(type(value)):
        for key, item in entries(value):
            yield from tensors_in(item, f"{path}[{shown_key(key)}]", depth + 1)
