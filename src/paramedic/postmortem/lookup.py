"""Evaluate names, attributes and subscripts as they were in a frame, without running any of the user's code.

Properties, `__getattr__` and `__getitem__` of the user's classes are never called: looking must not change a thing.
"""

from __future__ import annotations

import ast
import inspect
import operator
import sys
import types
from collections.abc import Mapping
from typing import Any

from paramedic.postmortem.summarize import brief, is_module, is_tensor

_OF_TENSORS = ("shape", "dtype", "device", "grad", "requires_grad", "ndim", "data")
_OF_ARRAYS = ("shape", "dtype", "ndim", "size")
_KEYS = (str, int, float, bool, bytes, type(None))
_ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv}


class Unknown(Exception):
    """It cannot be told without running code, or there is no such value."""


class Missing(Unknown):
    """There is no such entry; the message says what there is instead."""


def evaluate(node: ast.expr, local: Mapping[str, Any], shared: Mapping[str, Any]) -> Any:
    """The value of an expression; raises Unknown."""
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            if node.id in local:
                return local[node.id]
            if node.id in shared:
                return shared[node.id]
            raise Unknown(node.id)
        case ast.Attribute():
            return _attribute(evaluate(node.value, local, shared), node.attr)
        case ast.Subscript():
            return _item(evaluate(node.value, local, shared), _index(node.slice, local, shared))
        case ast.UnaryOp(op=ast.USub()):
            return -_number(evaluate(node.operand, local, shared))
        case ast.BinOp() if type(node.op) in _ARITHMETIC:
            sides = [_number(evaluate(side, local, shared)) for side in (node.left, node.right)]
            try:
                return _ARITHMETIC[type(node.op)](*sides)
            except ArithmeticError:
                raise Unknown from None
    raise Unknown(type(node).__name__)


def _number(value: Any) -> int:
    if type(value) not in (int, float):
        raise Unknown
    return value


def _attribute(owner: Any, name: str) -> Any:
    if is_tensor(owner):
        return _tensor_attribute(owner, name)
    if type(owner).__module__ == "numpy" and name in _OF_ARRAYS and type(owner).__name__ == "ndarray":
        return getattr(owner, name)
    if type(owner) is types.ModuleType:
        return _present(vars(owner), name)
    if is_module(owner):
        for holder in ("_parameters", "_buffers", "_modules"):
            held = owner.__dict__.get(holder)
            if type(held) in (dict,) and name in held:
                return held[name]
    try:
        found = inspect.getattr_static(owner, name)
    except (AttributeError, TypeError):
        raise Unknown(name) from None
    if type(found) is types.MemberDescriptorType:  # a slot
        try:
            return found.__get__(owner, type(owner))
        except AttributeError:
            raise Unknown(name) from None
    if hasattr(type(found), "__get__"):  # a property or a method
        raise Unknown(name)
    return found


def _tensor_attribute(tensor: Any, name: str) -> Any:
    torch = sys.modules["torch"]
    if name in _OF_TENSORS and type(tensor) in (torch.Tensor, torch.nn.Parameter):
        try:
            return getattr(tensor, name) if name != "grad" else tensor.grad if tensor.is_leaf else None
        except Exception:
            raise Unknown(name) from None
    raise Unknown(name)


def _present(names: Mapping[str, object], name: str) -> Any:
    if name not in names:
        raise Unknown(name)
    return names[name]


def _index(node: ast.expr, local: Mapping[str, Any], shared: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Slice):
        parts = (node.lower, node.upper, node.step)
        return slice(*(None if part is None else evaluate(part, local, shared) for part in parts))
    if isinstance(node, ast.Tuple):
        return tuple(_index(part, local, shared) for part in node.elts)
    return evaluate(node, local, shared)


def _item(owner: Any, index: Any) -> Any:
    kind = type(owner)
    if issubclass(kind, dict) and kind.__getitem__ is dict.__getitem__:
        if not _is_key(index):
            raise Unknown
        if not dict.__contains__(owner, index):
            keys = ", ".join(brief(key, 0) for key in list(dict.__iter__(owner))[:8])
            raise Missing(f"no such key; it has {keys}" if keys else "no such key; it is empty")
        return dict.__getitem__(owner, index)
    for builtin in (list, tuple, str, bytes):
        if issubclass(kind, builtin) and kind.__getitem__ is builtin.__getitem__:
            return _of_sequence(builtin, owner, index)
    if is_tensor(owner) or (kind.__module__ == "numpy" and kind.__name__ == "ndarray"):
        return _of_tensor(owner, index)
    raise Unknown


def _is_key(index: object) -> bool:
    return type(index) in _KEYS or (type(index) is tuple and all(_is_key(part) for part in index))


def _of_sequence(builtin: Any, owner: Any, index: Any) -> Any:
    if type(index) not in (int, bool, slice):
        raise Unknown
    try:
        return builtin.__getitem__(owner, index)
    except IndexError:
        raise Missing(f"out of range: the index is {index}, there are {builtin.__len__(owner):,} items") from None
    except (TypeError, ValueError):
        raise Unknown from None


def _of_tensor(owner: Any, index: Any) -> Any:
    """Basic indexing only, which gives a view: an index that is itself a tensor would copy, or fail on the device."""
    parts = index if type(index) is tuple else (index,)
    if any(type(part) not in (int, slice, type(None), type(Ellipsis)) for part in parts):
        raise Unknown
    torch = sys.modules.get("torch")
    if torch is not None and is_tensor(owner) and type(owner) not in (torch.Tensor, torch.nn.Parameter):
        raise Unknown
    try:
        if is_tensor(owner):
            owner = owner.detach()
        return owner[index]
    except IndexError:
        raise Missing(f"out of range: the shape is {tuple(owner.shape)}") from None
    except Exception:
        raise Unknown from None
