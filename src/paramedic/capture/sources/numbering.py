"""Which loader is which: one that is built again every epoch is still the same, one of another fold is not."""

from __future__ import annotations

import weakref
from collections.abc import Hashable

import torch.utils.data as torch_data
from torch.utils.data import DataLoader

from paramedic.program.untouched import Notes, integer, integers, length_of, stored
from paramedic.record.writer import Site

MOST_OF_A_LINE = 32  # loaders that are told apart; a script may build a new one for every batch
MOST_INDICES = 200_000


class Numbering:
    """Numbers loaders by where they were built and what they read."""

    def __init__(self) -> None:
        self._numbers: Notes[int] = Notes()
        self._alike: dict[
            Hashable, tuple[int, weakref.ref[DataLoader], weakref.ref[object] | None]
        ] = {}  # number, loader, dataset
        self._of_line: dict[Site, list[int]] = {}
        self._next = 0

    def get(self, loader: DataLoader) -> int | None:
        known: int | None = self._numbers.get(loader)
        return known

    def add(self, loader: DataLoader, site: Site) -> int:
        """The number of a loader that is read for the first time: its own, or that of the one it stands for."""
        root, selection = _selection(loader)
        key = (site, id(root), selection)
        number = self._of_the_like(key, root)
        line = self._of_line.setdefault(site, [])
        if number is None and len(line) < MOST_OF_A_LINE:
            number, self._next = self._next, self._next + 1
            line.append(number)
        self._numbers[loader] = number = line[-1] if number is None else number
        self._alike[key] = (number, weakref.ref(loader), _weak(root))
        return number

    def _of_the_like(self, key: Hashable, root: object) -> int | None:
        """The number of a loader that was built here for the same samples, and is gone."""
        if key not in self._alike:
            return None
        number, loader, dataset = self._alike[key]
        renewed = dataset is not None and dataset() is not root  # an identity may come back as another dataset
        return number if loader() is None and not renewed else None


def _selection(loader: DataLoader) -> tuple[object, tuple[object, ...]]:
    """The dataset at the bottom, and which of its samples are taken in which way."""
    chosen: list[object] = [
        type(loader.sampler),
        type(loader.batch_sampler),
        integer(loader.batch_size),
        _hash(loader.sampler),
    ]
    dataset = loader.dataset
    while isinstance(dataset, torch_data.Subset):
        chosen.append(_hash(dataset))
        dataset = dataset.dataset
    return dataset, tuple(chosen)


def _hash(holder: object) -> int:
    """Of the indices that a subset or a sampler holds, in whatever order."""
    indices = stored(holder, "indices")
    known = integers(indices) if (length_of(indices) or 0) <= MOST_INDICES else None
    return hash(frozenset(known)) if known is not None else 0  # unknown: indices of the user's own making


def _weak(thing: object) -> weakref.ref[object] | None:
    try:
        return weakref.ref(thing)
    except TypeError:  # a list
        return None
