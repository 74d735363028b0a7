"""A batch taken apart: which tensors are inputs and which are targets, by their use, or else by name and place."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any

import torch

from paramedic.interventions.uses import Roles

TARGET_NAMES = ("labels", "label", "y", "target", "targets", "label_ids")
Path = tuple[Any, ...]


class Batch:
    """A batch taken apart. `inputs` and `targets` may be replaced before it is put together again.

    With `whole` everything is input: what a model is called with, where labels may still be named among the keywords.
    """

    def __init__(self, value: object, *, whole: bool = False, roles: Roles | None = None) -> None:
        self.value = value
        self.parts = {path: tensor for path, tensor in tensors_in(value) if is_changeable(tensor)}
        self._inputs_at, self._targets_at = split(self.parts, roles=roles, whole=whole)
        self.inputs = [self.parts[path] for path in self._inputs_at]
        self.targets = [self.parts[path] for path in self._targets_at]
        self._before = {id(tensor) for tensor in self.parts.values()}

    def rebuilt(self) -> Any:
        """The same structure, with the tensors that are here now."""
        new = dict(zip(self._inputs_at, self.inputs, strict=True))
        new |= dict(zip(self._targets_at, self.targets, strict=True))
        if all(id(tensor) in self._before for tensor in new.values()):
            return self.value
        return _rebuild(self.value, (), new)


def split(
    parts: Mapping[Path, torch.Tensor], *, roles: Roles | None, whole: bool = False
) -> tuple[list[Path], list[Path]]:
    """The parts that are inputs and those that are targets."""
    known = roles is not None and not whole and any(path in parts for path in roles.inputs)
    if roles is not None and known:
        targets = [path for path in parts if path in roles.targets]
        inputs = [path for path in parts if path in roles.inputs]
    else:
        found = _target(parts, positional=not whole)
        targets = [] if found is None else [found]
        inputs = [path for path in parts if path not in targets]
    return [path for path in inputs if not _is_mask(path, parts, by_value=not known)], targets


def tensors_in(value: object, path: Path = ()) -> list[tuple[Path, torch.Tensor]]:
    """All tensors in lists, tuples and mappings, in order."""
    if isinstance(value, torch.Tensor):
        return [(path, value)]
    if isinstance(value, Mapping):
        return [item for key in value for item in tensors_in(value[key], (*path, key))]
    if isinstance(value, list | tuple):
        return [item for index, part in enumerate(value) for item in tensors_in(part, (*path, index))]
    return []


def is_changeable(value: object) -> bool:
    """A plain tensor with a row per sample."""
    return (
        isinstance(value, torch.Tensor)
        and value.dim() > 0
        and value.layout == torch.strided
        and not value.is_nested
        and not value.is_complex()
    )


def _target(found: Mapping[Path, torch.Tensor], *, positional: bool) -> Path | None:
    named = [path for path in found if isinstance(path[-1], str) and path[-1].lower() in TARGET_NAMES]
    if named:
        return named[0]
    places = [path for path in found if all(isinstance(key, int) for key in path)]
    if not positional or len(places) < 2:
        return None
    classes = [path for path in places if found[path].dim() == 1 and not found[path].is_floating_point()]
    return classes[0] if len(classes) == 1 and len(places) == 2 else places[-1]


def _is_mask(path: Path, found: Mapping[Path, torch.Tensor], *, by_value: bool) -> bool:
    """What says which values count is left alone: an all-zero mask would break a healthy model."""
    tensor = found[path]
    if tensor.dtype == torch.bool or any("mask" in str(key) or "length" in str(key) for key in path):
        return True
    return (
        by_value and not tensor.is_floating_point() and len(found) > 2 and bool(((tensor == 0) | (tensor == 1)).all())
    )


def _rebuild(value: Any, path: Path, new: Mapping[Path, torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        return new.get(path, value)
    if isinstance(value, MutableMapping):
        copied = value.copy() if hasattr(value, "copy") else dict(value)
        for key in value:
            copied[key] = _rebuild(value[key], (*path, key), new)
        return copied
    if isinstance(value, list | tuple):
        parts = [_rebuild(part, (*path, index), new) for index, part in enumerate(value)]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value
