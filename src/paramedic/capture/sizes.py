"""How long datasets, samplers and loaders are, without calling a `__len__` of the user's.

Torch's own are computed from what they hold. A `__len__` of the user's is read, not called: most are one line that says
`return len(self.samples)`. What says anything else stays unknown.
"""

from __future__ import annotations

import ast
import functools
import operator
import types
from typing import Any

import numpy
import torch
from torch.utils import data as torch_data

from paramedic.aliases import Function
from paramedic.capture.code.trees import tree
from paramedic.program.untouched import length_of, on_class, stored

_ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv}
DEEPEST = 8  # datasets within datasets


def size_of(sized: object, depth: int = 0) -> int | None:
    """What `len()` would say, where that can be known."""
    kind = type(sized)
    for known, measure in _MEASURES.items():
        if issubclass(kind, known) and on_class(kind, "__len__") is on_class(known, "__len__") and depth < DEEPEST:
            return measure(sized, depth + 1)
    found = length_of(sized)
    return _read(sized, depth + 1) if found is None and depth < DEEPEST else found


def _of_attribute(name: str) -> Function:
    return lambda sized, depth: size_of(stored(sized, name), depth)


def _of_tensors(dataset: object, depth: int) -> int | None:
    tensors = stored(dataset, "tensors")
    return size_of(tensors[0], depth) if type(tensors) is tuple and tensors else None


def _of_parts(dataset: object, depth: int) -> int | None:
    ends = stored(dataset, "cumulative_sizes")
    return ends[-1] if type(ends) is list and ends else None


def _of_random(sampler: object, depth: int) -> int | None:
    chosen = stored(sampler, "_num_samples")
    return _whole(chosen) if chosen is not None else size_of(stored(sampler, "data_source"), depth)


def _stated(sampler: object, depth: int) -> int | None:
    return _whole(stored(sampler, "num_samples"))


def _of_batches(sampler: object, depth: int) -> int | None:
    size, batch = size_of(stored(sampler, "sampler"), depth), _whole(stored(sampler, "batch_size"))
    if size is None or not batch:
        return None
    return size // batch if stored(sampler, "drop_last") is True else -(-size // batch)


def _of_loader(loader: object, depth: int) -> int | None:
    if issubclass(type(stored(loader, "dataset")), torch_data.IterableDataset):
        return None
    batches = stored(loader, "batch_sampler")
    return size_of(batches if batches is not None else stored(loader, "sampler"), depth)


_MEASURES: dict[type, Function] = {
    torch_data.Subset: _of_attribute("indices"),
    torch_data.TensorDataset: _of_tensors,
    torch_data.ConcatDataset: _of_parts,
    torch_data.StackDataset: lambda dataset, depth: _whole(stored(dataset, "_length")),
    torch_data.SequentialSampler: _of_attribute("data_source"),
    torch_data.RandomSampler: _of_random,
    torch_data.SubsetRandomSampler: _of_attribute("indices"),
    torch_data.WeightedRandomSampler: _stated,
    torch_data.DistributedSampler: _stated,
    torch_data.BatchSampler: _of_batches,
    torch_data.DataLoader: _of_loader,
}


def _whole(value: object) -> int | None:
    return value if type(value) is int else None


def _read(sized: object, depth: int) -> int | None:
    """What the user's `__len__` returns, as far as its source tells by itself."""
    function = on_class(type(sized), "__len__")
    if not isinstance(function, types.FunctionType):
        return None
    expression = _returned(function.__code__.co_filename, function.__code__.co_firstlineno)
    own = function.__code__.co_varnames[:1]
    if expression is None or not own:
        return None
    return _whole(_value(expression, own[0], sized, depth))


@functools.lru_cache(maxsize=256)
def _returned(file: str, line: int) -> ast.expr | None:
    """The expression that a function consists of, besides what it says about itself."""
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.FunctionDef) and node.lineno == line and not node.decorator_list:
            body = [part for part in node.body if not _is_text(part)]
            single = body[0] if len(body) == 1 else None
            return single.value if isinstance(single, ast.Return) else None
    return None


def _is_text(part: ast.stmt) -> bool:
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)


def _value(node: ast.expr, own: str, sized: object, depth: int) -> Any:
    """None for everything that would have to be run."""
    match node:
        case ast.Constant():
            return node.value
        case ast.Name(id=name):
            return sized if name == own else None
        case ast.Attribute(value=inner, attr=name):
            owner = _value(inner, own, sized, depth)
            if type(owner) in (torch.Tensor, numpy.ndarray):
                return tuple(owner.shape) if name == "shape" else None
            return stored(owner, name) if owner is not None else None
        case ast.Subscript(value=inner, slice=ast.Constant(value=key)):
            return _item(_value(inner, own, sized, depth), key)
        case ast.Call(func=ast.Name(id="len"), args=[inner], keywords=[]):
            found = _value(inner, own, sized, depth)
            return size_of(found, depth) if found is not None else None
        case ast.Call(func=ast.Attribute(value=inner, attr="size"), args=[ast.Constant(value=0)], keywords=[]):
            found = _value(inner, own, sized, depth)
            return length_of(found) if type(found) is torch.Tensor else None
        case ast.BinOp(left=left, right=right, op=op) if type(op) in _ARITHMETIC:
            a, b = (_whole(_value(side, own, sized, depth)) for side in (left, right))
            divided_by_zero = type(op) is ast.FloorDiv and b == 0
            return None if a is None or b is None or divided_by_zero else _ARITHMETIC[type(op)](a, b)
    return None


def _item(owner: Any, key: Any) -> Any:
    if type(owner) is dict and type(key) in (str, int):
        return owner.get(key)
    if type(owner) in (list, tuple) and type(key) is int and -len(owner) <= key < len(owner):
        return owner[key]
    return None
