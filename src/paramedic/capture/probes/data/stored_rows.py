"""Datasets whose stored samples change when they are read: `row = self.x[i]; row += noise` writes into `self.x`."""

from __future__ import annotations

import ast
from collections import Counter
from types import CodeType
from typing import NamedTuple, TypeAlias

import numpy
import torch
from torch.utils.data import DataLoader

from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.code.trees import definition
from paramedic.capture.facts import readable
from paramedic.capture.probe import probe
from paramedic.capture.sizes import size_of
from paramedic.capture.sources.datasets import in_root, reader, root_of
from paramedic.capture.watcher import Watcher
from paramedic.program.untouched import attributes
from paramedic.program.where import shown_path
from paramedic.record.facts import StoredRows as StoredRowsFact
from paramedic.record.writer import Site

Array: TypeAlias = "numpy.ndarray | torch.Tensor"
LOOKS = 4  # passes of a loader
MOST_VALUES = 4_000_000  # that are copied for a look


class Kept(NamedTuple):
    """The samples of a dataset before a pass."""

    dataset: object
    arrays: dict[str, tuple[Array, Array]]  # attribute -> itself, and a copy


@probe("stored_rows", states=[StoredRowsFact])
class StoredRows:
    """Compares what a dataset holds before a pass and after its first batch, of which the indices are known."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._looks: Counter[int] = Counter()
        self._kept: dict[int, Kept] = {}

    @on(moments.pass_began)
    def began(self, number: int, loader: DataLoader) -> None:
        self._kept.pop(number, None)
        if loader.num_workers or self._looks[number] >= LOOKS or reader(loader.dataset) is None:
            return  # workers have copies of their own
        self._looks[number] += 1
        arrays = _samples(root_of(loader.dataset))
        if arrays:
            copies = {name: (array, _copy(array)) for name, array in arrays.items()}
            self._kept[number] = Kept(loader.dataset, copies)

    @on(moments.first_batch_given)
    def given(self, number: int, epoch: int, indices: object) -> None:
        kept = self._kept.pop(number, None)
        if kept is None or not isinstance(indices, (list, tuple)) or not all(isinstance(i, int) for i in indices):
            return
        read = {in_root(kept.dataset, index)[1] for index in indices}
        for name, (now, before) in kept.arrays.items():
            changed = _changed(now, before)
            code = reader(kept.dataset)
            if code is None:
                continue
            fact = StoredRowsFact(
                loader=number,
                attribute=name,
                epoch=epoch,
                read=len(read),
                changed=len(changed & read),
                others=len(changed - read),
            )
            self.watcher.state(fact, site=_read_at(code, name), phase="train")


def _samples(root: object) -> dict[str, Array]:
    """Attributes with a row of numbers for each sample."""
    size = size_of(root)
    found: dict[str, Array] = {}
    for name, value in list(attributes(root).items()):
        plain = type(value) is numpy.ndarray or (type(value) is torch.Tensor and value.is_cpu and readable(value))
        if plain and value.ndim >= 2 and len(value) == size and _is_float(value) and _numel(value) <= MOST_VALUES:
            found[name] = value
    return found if sum(map(_numel, found.values())) <= MOST_VALUES else {}


def _is_float(array: Array) -> bool:
    if isinstance(array, torch.Tensor):
        return array.dtype in (torch.float16, torch.float32, torch.float64)
    return array.dtype.kind == "f"


def _numel(array: Array) -> int:
    return array.numel() if isinstance(array, torch.Tensor) else int(array.size)


def _copy(array: Array) -> Array:
    return array.detach().clone() if isinstance(array, torch.Tensor) else array.copy()


def _changed(now: Array, before: Array) -> set[int]:
    """The rows that are not what they were; NaN is as it was."""
    one, other = (a.detach().numpy() if isinstance(a, torch.Tensor) else a for a in (now, before))
    if one.shape != other.shape:
        return set()
    differs = (one != other) & ~(numpy.isnan(one) & numpy.isnan(other))
    return set(numpy.flatnonzero(differs.reshape(len(one), -1).any(1)).tolist())


def _read_at(code: CodeType, attribute: str) -> Site:
    """The line of the reader that takes the sample out of the attribute."""
    tree = definition(code)
    taken = [
        node.lineno
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == attribute
    ]
    return Site(shown_path(code.co_filename), min(taken, default=code.co_firstlineno), code.co_name)
