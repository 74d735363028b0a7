"""The tensors of a batch: where they are, which are targets, and a new batch of the same build."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from paramedic.errors import ParamedicError
from paramedic.synth.task import Array

TARGETS = ("label", "target")  # in names of targets; also "y" and "boxes"
KEPT = ("mask", "length", "index", "id_", "_id", "ptr")  # parts of names that stand for bookkeeping, not for content


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """One tensor of a batch, as a numpy array."""

    path: str
    values: Array

    @property
    def is_classes(self) -> bool:
        return self.values.dtype.kind in "iub"

    @property
    def is_tokens(self) -> bool:
        return self.values.dtype.kind in "iu" and self.values.dtype != np.uint8 and self.values.ndim == 2

    @property
    def channels_first(self) -> bool:
        """(N, C, H, W) rather than (N, H, W, C) or (N, T, F)."""
        shape = self.values.shape
        return self.values.ndim > 3 and not (shape[-1] <= 4 < shape[1])

    @property
    def channels(self) -> int:
        if self.values.ndim < 3:
            return 1
        return int(self.values.shape[1 if self.channels_first else -1])

    @property
    def places(self) -> tuple[int, ...]:
        shape = self.values.shape
        if self.values.ndim < 3:
            return shape[1:]
        return shape[2:] if self.channels_first else shape[1:-1]

    def is_spatial(self, axis: int) -> bool:
        """Whether this axis (0 is the first after the samples) is one of places, not of channels or features."""
        if self.values.ndim < 3:
            return False
        return axis > 0 if self.channels_first else axis < self.values.ndim - 2


def parts(batch: object, target: str | int | None = None) -> tuple[list[Leaf], list[Leaf]]:
    """Inputs to be made anew, and targets: what was named, else what is called so, else the last of a row."""
    named = _targets(batch) if target is None else (str(target),)
    found = [Leaf(path, values) for path, values in _walk(batch, "")]
    rows = max((len(leaf.values) for leaf in found), default=0)
    usable = [leaf for leaf in found if rows and len(leaf.values) == rows]
    targets = [leaf for leaf in usable if leaf.path.split("/")[1:2] and leaf.path.split("/")[1] in named]
    inputs = [leaf for leaf in usable if leaf not in targets and _is_content(leaf)]
    if len(usable) > 1 and not targets:
        raise ParamedicError(
            "it is not clear which part of this batch is the target",
            expected=f"one of: {', '.join(leaf.path.strip('/') for leaf in usable)}",
            fix="paramedic.synth.twin(batch, target=…)",
        )
    return inputs, targets


def _targets(batch: object) -> tuple[str, ...]:
    if isinstance(batch, Mapping):
        names = [str(key) for key in batch]
        return tuple(n for n in names if any(w in n.lower() for w in TARGETS) or n.lower() in ("y", "boxes"))
    return (str(len(batch) - 1),) if isinstance(batch, tuple | list) and len(batch) > 1 else ()


def _is_content(leaf: Leaf) -> bool:
    name = leaf.path.rpartition("/")[2].lower()
    bookkeeping = name != "input_ids" and any(word in name for word in KEPT)
    return not bookkeeping and leaf.values.ndim >= 2 and leaf.values.dtype.kind != "b"


def _walk(value: object, path: str) -> Iterator[tuple[str, Array]]:
    if _is_tensor(value):
        if getattr(value, "ndim", 0) >= 1:
            yield path, _array(value)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _walk(item, f"{path}/{key}")
    elif isinstance(value, tuple | list):
        for number, item in enumerate(value):
            yield from _walk(item, f"{path}/{number}")


def rebuilt(value: Any, made: Mapping[str, Array], path: str = "") -> Any:
    """The batch with these leaves replaced: same containers, types and devices."""
    if _is_tensor(value):
        return _like(value, made[path]) if path in made else value
    if isinstance(value, Mapping):
        items = {key: rebuilt(item, made, f"{path}/{key}") for key, item in value.items()}
        return items if type(value) is dict else type(value)(items)  # type: ignore[call-arg]
    if isinstance(value, tuple | list):
        new = [rebuilt(item, made, f"{path}/{number}") for number, item in enumerate(value)]
        return type(value)(*new) if hasattr(value, "_fields") else type(value)(new)
    return value


def _is_tensor(value: object) -> bool:
    return isinstance(value, torch.Tensor | np.ndarray)


def _array(value: Any) -> Array:
    if isinstance(value, np.ndarray):
        return value
    value = value.detach().cpu()
    if value.is_floating_point():
        value = value.float()
    array: Array = value.numpy()
    return array


def _like(old: Any, new: Array) -> Any:
    if isinstance(old, np.ndarray):
        return new.astype(old.dtype)
    return torch.from_numpy(np.ascontiguousarray(new)).to(dtype=old.dtype, device=old.device)
