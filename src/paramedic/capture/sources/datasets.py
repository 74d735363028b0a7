"""What a dataset says about itself without being read: its root, its random numbers, how its sampler fits it."""

from __future__ import annotations

import dis
import random
from collections.abc import Iterator
from types import CodeType

import numpy
import torch
from torch.utils import data as torch_data

from paramedic.capture.code.storing import filled_in
from paramedic.capture.sizes import size_of
from paramedic.capture.sources.class_balance import misplaced
from paramedic.program.untouched import (
    attributes,
    element,
    integer,
    integers,
    is_library,
    length_of,
    on_class,
    stored,
)
from paramedic.program.where import is_users, shown_path
from paramedic.record.facts import Filled, GeneratorPart, LabelOrder, SamplerFit
from paramedic.record.site import Site

MOST_LABELS = 2_000_000
_GENERATORS = (numpy.random.Generator, numpy.random.RandomState, random.Random, torch.Generator)
ENTRIES = ("__getitem__", "__getitems__", "__call__", "forward")


def root_of(dataset: object) -> object:
    """The dataset below all Subsets."""
    while isinstance(dataset, torch_data.Subset):
        dataset = dataset.dataset
    return dataset


def in_root(dataset: object, index: int) -> tuple[int, int]:
    """A sample by the identity of its root dataset and its number in there; TypeError where only the user can tell."""
    while isinstance(dataset, torch_data.Subset):
        found = integer(element(dataset.indices, index))
        if found is None:
            raise TypeError("an index that is no number")
        index = found
        dataset = dataset.dataset
    return id(dataset), index


def reader(dataset: object) -> CodeType | None:
    """The user's own code that makes a sample."""
    kind = type(root_of(dataset))
    function = on_class(kind, "__getitem__") or on_class(kind, "__iter__")
    code: CodeType | None = getattr(function, "__code__", None)
    return code if code is not None and is_users(code.co_filename) else None


def reader_site(dataset: object) -> Site | None:
    code = reader(dataset)
    return Site(shown_path(code.co_filename), code.co_firstlineno, code.co_name) if code is not None else None


def speaks_of(dataset: object, word: str) -> bool:
    """Whether the code that makes a sample has a variable or attribute with this word in its name."""
    code = reader(dataset)
    return code is not None and any(word in name.lower() for name in (*code.co_varnames, *code.co_names))


def generator_in_use(dataset: object) -> GeneratorPart | None:
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
        for attribute, value in list(dict.items(attributes(owner))):
            if isinstance(value, _GENERATORS) and attribute in drawn and not _reassigned(codes, attribute):
                return GeneratorPart(attribute=f"{path}.{attribute}", class_=type(value).__name__)
    return None


def _owners(root: object) -> Iterator[tuple[object, str]]:
    """The dataset, and the objects of the user's own classes that it holds, such as transforms."""
    yield root, "dataset"
    for name, value in list(dict.items(attributes(root))):
        items = value if type(value) in (list, tuple) and len(value) <= 32 else [value]
        for item in items:
            if attributes(item) and callable(item) and not issubclass(type(item), (type, torch.nn.Module)):
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


def sampler_fit(sampler: object, dataset: object) -> SamplerFit | None:
    """How many samples a sampler can reach, against how many there are."""
    size = size_of(dataset)
    if size is None:
        return None
    if isinstance(sampler, torch_data.WeightedRandomSampler):
        weights = stored(sampler, "weights")
        if type(weights) is not torch.Tensor:
            return None
        positive = int((weights > 0).sum())
        wrong = misplaced(weights, dataset)
        return SamplerFit(kind="weights", entries=len(weights), positive=positive, size=size, misplaced=wrong)
    indices = integers(stored(sampler, "indices")) if isinstance(sampler, torch_data.SubsetRandomSampler) else None
    if indices is not None:
        return SamplerFit(kind="indices", entries=len(indices), highest=max(indices, default=-1), size=size)
    return None


def label_order(dataset: object) -> LabelOrder | None:
    """How often the label changes from one sample to the next, where labels can be had without loading samples."""
    try:
        found = _labels(dataset)
    except (TypeError, ValueError, RuntimeError, IndexError):  # labels or indices of the user's own making
        return None
    if found is None:
        return None
    classes = int(found.unique().numel())
    return LabelOrder(count=len(found), classes=classes, changes=int((found[1:] != found[:-1]).sum()))


def _labels(dataset: object) -> torch.Tensor | None:
    indices = None
    while isinstance(dataset, torch_data.Subset):
        chosen = _as_tensor(dataset.indices)
        if chosen is None:
            return None
        inner = chosen
        indices = inner if indices is None else inner[indices]
        dataset = dataset.dataset
    labels: object = None
    if isinstance(dataset, torch_data.TensorDataset):
        integral = [t for t in dataset.tensors if t.dim() == 1 and not t.dtype.is_floating_point]
        labels = integral[-1] if integral else None
    else:
        labels = stored(dataset, "targets", stored(dataset, "labels"))  # and none that would have to be made
    if not 1 < (length_of(labels) or 0) <= MOST_LABELS:
        return None
    found = _as_tensor(labels)
    if found is None or found.dim() != 1 or found.dtype.is_floating_point or found.device.type != "cpu":
        return None
    return found if indices is None else found[indices]


def _as_tensor(values: object) -> torch.Tensor | None:
    if type(values) in (list, tuple, range):
        numbers = integers(values)
        return torch.tensor(numbers) if numbers is not None else None
    is_plain = type(values) in (torch.Tensor, numpy.ndarray) or is_library(type(values))  # such as a pandas.Series
    return torch.as_tensor(values) if is_plain else None


def filled_while_loading(dataset: object) -> list[Filled]:
    """What a data set stores while samples are loaded: name, type, file, line, function."""
    root = root_of(dataset)
    return [Filled(name, type(attributes(root)[name]).__name__, *site) for name, site in filled_in(root)]
