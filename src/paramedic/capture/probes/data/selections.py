"""Which part of a dataset a loader reads, in words that another process understands: do ranks agree on the split?"""

from __future__ import annotations

import hashlib
from json import dumps  # now: the script may put a function of its own in its place
from pathlib import Path
from typing import Any

import numpy
import torch
from torch import distributed
from torch.utils import data as torch_data
from torch.utils.data import DataLoader

from paramedic.aliases import Function
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.facts import content_hash
from paramedic.capture.probe import probe
from paramedic.capture.probes.data.transforms import Transforms
from paramedic.capture.sizes import size_of
from paramedic.capture.sources.datasets import root_of
from paramedic.capture.watcher import Watcher
from paramedic.program.untouched import Notes, attributes, integers, length_of, stored
from paramedic.program.where import built_at
from paramedic.record.facts import ExchangedTransform, Selection
from paramedic.record.thinning import thinned
from paramedic.record.writer import NOWHERE, Site

MOST_INDICES = 5_000_000
LOOKED_AT = 128  # elements of an attribute
DEEPEST = 3  # datasets within datasets


@probe("selections", states=[ExchangedTransform, Selection])
class Selections:
    """Tells the indices behind Subsets and samplers, once per loader, where several ranks train one model."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.transforms = Transforms(watcher)
        self._births: Notes[Site] = Notes()

    def install(self) -> None:
        def watched_init(original: Function) -> Function:
            def init(subset: object, *args: object, **kwargs: object) -> None:
                original(subset, *args, **kwargs)
                self.watcher.ask("selections", self._born, subset)

            return init

        self.watcher.patches.wrap(torch_data.Subset, "__init__", watched_init)

    def _born(self, subset: object) -> None:
        self.transforms.born(subset)
        self._births[subset] = built_at(subset)

    @on(moments.pass_began)
    def _pass_began(self, number: int, loader: DataLoader) -> None:
        self.transforms.started(number, loader)

    @on(moments.loader_met)
    def tell(self, number: int, loader: Any) -> None:
        if not together() or isinstance(loader.dataset, torch_data.IterableDataset):
            return
        indices = _selected(loader)
        if indices is None or not len(indices):
            return
        root = root_of(loader.dataset)
        data = Selection(
            loader=number,
            root=type(root).__name__,
            size=size_of(root),
            prints=prints(root),
            chosen=len(indices),
            indices=thinned(indices),
        )
        site = self._births.get(loader.dataset, NOWHERE)
        self.watcher.state(data, site=site, phase="setup")


def together() -> bool:
    """Whether this process trains together with others."""
    return distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1


def _selected(loader: DataLoader) -> Any:
    """Indices in the dataset at the bottom; None when a loader reads all of it."""
    dataset, listed = loader.dataset, integers(stored(loader.sampler, "indices"))
    chosen = None if listed is None else numpy.asarray(listed)
    while isinstance(dataset, torch_data.Subset):
        found = integers(dataset.indices) if (length_of(dataset.indices) or 0) <= MOST_INDICES else None
        if found is None:
            return None
        inner = numpy.asarray(found)
        chosen = inner if chosen is None else inner[chosen]
        dataset = dataset.dataset
    usable = chosen is not None and chosen.ndim == 1 and chosen.dtype.kind in "iu"
    return chosen if usable else None


def prints(dataset: Any, depth: int = 0) -> dict[str, list[Any]]:
    """What a dataset holds, attribute by attribute: a digest, and whether it tells samples apart. Reads no sample."""
    found: dict[str, list[Any]] = {}
    for name, value in list(dict.items(attributes(dataset))):
        if isinstance(value, str):
            found[name] = [_digest(value), False]
        elif isinstance(value, torch_data.Dataset) and depth < DEEPEST:
            found |= {f"{name}.{inner}": known for inner, known in prints(value, depth + 1).items()}
        elif name == "tensors" and isinstance(value, tuple):
            found |= {f"{name}[{i}]": known for i, t in enumerate(value) if (known := _print_of(t, length_of(t)))}
        elif known := _print_of(value, size_of(dataset)):
            found[name] = known
    return found


def _print_of(values: Any, size: int | None) -> list[object] | None:
    if type(values) not in (list, tuple, numpy.ndarray, torch.Tensor) or not size or length_of(values) != size:
        return None
    if isinstance(values, torch.Tensor) and (values.device.type != "cpu" or values.layout != torch.strided):
        return None
    step = max(1, size // LOOKED_AT)
    try:
        elements = [dumps(values[i], default=_plain) for i in range(0, size, step)]
    except (TypeError, ValueError, RuntimeError):  # objects of the user's own making
        return None
    return [_digest("\n".join(elements)), len(set(elements)) > len(elements) / 2]


def _plain(value: object) -> object:
    if type(value) is torch.Tensor:
        return content_hash(value)
    if type(value) is numpy.ndarray and value.dtype != object:
        return _digest(value.tobytes())
    if isinstance(value, numpy.generic):
        return value.item()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(type(value).__name__)


def _digest(content: str | bytes) -> str:
    raw = content.encode(errors="replace") if isinstance(content, str) else content
    return hashlib.blake2b(raw, digest_size=8).hexdigest()
