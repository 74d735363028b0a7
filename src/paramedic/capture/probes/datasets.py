"""What a dataset says about itself without being read: its root, its random numbers, how its sampler fits it."""

from __future__ import annotations

import dis
import random
from collections.abc import Iterator
from types import CodeType
from typing import Any

import numpy
import torch
from torch.utils import data as torch_data

from paramedic.capture.storing import filled_in
from paramedic.capture.where import is_users, shown_path

MOST_LABELS = 2_000_000
_GENERATORS = (numpy.random.Generator, numpy.random.RandomState, random.Random, torch.Generator)
ENTRIES = ("__getitem__", "__getitems__", "__call__", "forward")


def root_of(dataset: Any) -> Any:
    """The dataset below all Subsets."""
    while isinstance(dataset, torch_data.Subset):
        dataset = dataset.dataset
    return dataset


def in_root(dataset: Any, index: int) -> tuple[int, int]:
    """A sample by the identity of its root dataset and its number in there."""
    while isinstance(dataset, torch_data.Subset):
        index = int(dataset.indices[index])
        dataset = dataset.dataset
    return id(dataset), index


def reader(dataset: Any) -> CodeType | None:
    """The user's own code that makes a sample."""
    kind = type(root_of(dataset))
    function = getattr(kind, "__getitem__", None) or getattr(kind, "__iter__", None)
    code: CodeType | None = getattr(function, "__code__", None)
    return code if code is not None and is_users(code.co_filename) else None


def reader_site(dataset: Any) -> list[Any] | None:
    code = reader(dataset)
    return [shown_path(code.co_filename), code.co_firstlineno, code.co_name] if code is not None else None


def speaks_of(dataset: Any, word: str) -> bool:
    """Whether the code that makes a sample has a variable or attribute with this word in its name."""
    code = reader(dataset)
    return code is not None and any(word in name.lower() for name in (*code.co_varnames, *code.co_names))


def generator_in_use(dataset: Any) -> dict[str, Any] | None:
    """A random generator that lives on the dataset and is drawn from while samples are made.

    Each worker process gets a copy of it, in the same state.
    """
    if isinstance(dataset, torch_data.IterableDataset):
        return None
    root = root_of(dataset)
    for owner, path in _owners(root):
        methods = _methods(type(owner))
        codes = [code for name, found in methods.items() if name != "__init__" for code in found]
        if {"get_worker_info", "seed", "manual_seed"} & {name for code in codes for name in _names(code)}:
            continue  # it knows about workers, or seeds itself for each sample
        drawn = _drawn(methods)
        for attribute, value in list(getattr(owner, "__dict__", {}).items()):
            if isinstance(value, _GENERATORS) and attribute in drawn and not _reassigned(codes, attribute):
                return {"attribute": f"{path}.{attribute}", "class": type(value).__name__}
    return None


def _owners(root: Any) -> Iterator[tuple[Any, str]]:
    """The dataset, and the objects of the user's own classes that it holds, such as transforms."""
    yield root, "dataset"
    for name, value in list(getattr(root, "__dict__", {}).items()):
        items = value if isinstance(value, (list, tuple)) and len(value) <= 32 else [value]
        for item in items:
            if hasattr(item, "__dict__") and callable(item) and not isinstance(item, (type, torch.nn.Module)):
                yield item, f"dataset.{name}"


def _methods(kind: type) -> dict[str, list[CodeType]]:
    """The user's own, of all bases: one may call another's by super()."""
    methods: dict[str, list[CodeType]] = {}
    for base in kind.__mro__:
        for name, function in vars(base).items():
            code = getattr(getattr(function, "fget", function), "__code__", None)  # of properties, too
            if code is not None and is_users(code.co_filename):
                methods.setdefault(name, []).append(code)
    return methods


def _drawn(methods: dict[str, list[CodeType]]) -> set[str]:
    """The names used when a sample is made: a generator may also serve to make all of them beforehand."""
    used: set[str] = set()
    waiting = set(ENTRIES)
    while waiting:
        name = waiting.pop()
        found = set().union(*(_names(code) for code in methods.get(name, ())))
        waiting |= found - used
        used |= found
    return used


def _names(code: CodeType) -> set[str]:
    inner = [part for part in code.co_consts if isinstance(part, CodeType)]  # comprehensions, lambdas
    return set(code.co_names).union(*(_names(part) for part in inner))


def _reassigned(codes: list[CodeType], attribute: str) -> bool:
    steps = [step for code in codes for step in dis.get_instructions(code)]
    return any(step.opname == "STORE_ATTR" and step.argval == attribute for step in steps)


def sampler_fit(sampler: Any, dataset: Any) -> dict[str, Any] | None:
    """How many samples a sampler can reach, against how many there are."""
    size = length(dataset)
    if size is None:
        return None
    if isinstance(sampler, torch_data.WeightedRandomSampler):
        weights = sampler.weights
        positive = int((weights > 0).sum())
        return {"kind": "weights", "entries": len(weights), "positive": positive, "size": size}
    if isinstance(sampler, torch_data.SubsetRandomSampler):
        indices = [int(index) for index in sampler.indices]
        return {"kind": "indices", "entries": len(indices), "highest": max(indices, default=-1), "size": size}
    return None


def length(dataset: Any) -> int | None:
    try:
        return len(dataset)
    except Exception:  # it is the user's code, which may not be ready to say
        return None


def label_order(dataset: Any) -> dict[str, int] | None:
    """How often the label changes from one sample to the next, where labels can be had without loading samples."""
    try:
        found = _labels(dataset)
    except (TypeError, ValueError, RuntimeError, IndexError):  # labels or indices of the user's own making
        return None
    if found is None:
        return None
    classes = int(found.unique().numel())
    return {"count": len(found), "classes": classes, "changes": int((found[1:] != found[:-1]).sum())}


def _labels(dataset: Any) -> torch.Tensor | None:
    indices = None
    while isinstance(dataset, torch_data.Subset):
        inner = torch.as_tensor(dataset.indices)
        indices = inner if indices is None else inner[indices]
        dataset = dataset.dataset
    labels: Any = None
    if isinstance(dataset, torch_data.TensorDataset):
        integral = [t for t in dataset.tensors if t.dim() == 1 and not t.dtype.is_floating_point]
        labels = integral[-1] if integral else None
    else:
        labels = getattr(dataset, "targets", getattr(dataset, "labels", None))
    if labels is None or not hasattr(labels, "__len__") or not 1 < len(labels) <= MOST_LABELS:
        return None
    found = torch.as_tensor(labels)
    if found.dim() != 1 or found.dtype.is_floating_point or found.device.type != "cpu":
        return None
    return found if indices is None else found[indices]


def filled_while_loading(dataset: Any) -> list[tuple[Any, ...]]:
    """What a data set stores while samples are loaded: name, type, file, line, function."""
    root = root_of(dataset)
    if not hasattr(root, "__dict__"):
        return []
    return [(name, type(getattr(root, name)).__name__, *site) for name, site in filled_in(root)]
