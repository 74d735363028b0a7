"""Look at objects of others without running their code: what an object holds, and nothing that it computes.

A property, `__getattr__`, `__len__`, `__getitem__`, `items()`, `__repr__` or `__hash__` of the user's may count, draw
random numbers, block or raise. The program did not ask for that, so neither do we: what cannot be told is None.
"""

from __future__ import annotations

import inspect
import types
import weakref
from array import array
from collections import UserDict, deque
from collections.abc import Iterator
from enum import Enum
from typing import Any, Generic, TypeVar

import numpy
import torch

from paramedic.aliases import Fields
from paramedic.program.where import is_users

Value = TypeVar("Value")
_MISSING = object()
_SLOTS = (types.GetSetDescriptorType, types.MemberDescriptorType)
_BUILTIN = (list, tuple, dict, set, frozenset, str, bytes, bytearray, range, deque, array, numpy.ndarray)
_SEQUENCES = (list, tuple, range, deque, array)
_CONTAINERS: tuple[object, ...] = (
    *_SEQUENCES,
    set,
    frozenset,
    dict,
    type({}.keys()),
    type({}.values()),
    type({}.items()),
)
_CONFIGURATIONS = ("omegaconf", "ml_collections")  # their values are computed by the user's resolvers, when asked for
_TENSORS = (torch.Tensor, torch.nn.Parameter)
_PLAIN = (str, int, float, bool, bytes, type(None))


def attributes(owner: Any) -> Fields:
    """The instance's own `__dict__`: no property of that name, and nothing that a `__getattr__` makes up."""
    for base in type(owner).__mro__:
        slot = names_in(base).get("__dict__", _MISSING)
        if slot is not _MISSING:
            found: Any = slot.__get__(owner) if type(slot) in _SLOTS else None
            return found if issubclass(type(found), dict) else {}
    return {}


def names_in(kind: type) -> Fields:
    """A class's own names; its metaclass may have hidden them behind a `__dict__` of its own."""
    found: Fields = type.__dict__["__dict__"].__get__(kind)
    return found


def stored(owner: object, name: str, default: object = None) -> Any:
    """An attribute whose value lies there: on the instance, in a slot, or on the class. Nothing that is computed."""
    own = attributes(owner)
    if dict.__contains__(own, name):
        return dict.__getitem__(own, name)
    found = on_class(type(owner), name)
    if type(found) is types.MemberDescriptorType:
        try:
            return found.__get__(owner, type(owner))
        except AttributeError:  # a slot that is not filled
            return default
    return default if found is None or on_class(type(found), "__get__") is not None else found


def on_class(kind: type, name: str) -> Any:
    """What a class or one of its bases defines under this name, as it lies there; None if none does."""
    return next((names_in(base)[name] for base in kind.__mro__ if name in names_in(base)), None)


def has_method(owner: object, name: str) -> bool:
    return inspect.isfunction(on_class(type(owner), name))


def is_users_code(kind: type, method: str) -> bool:
    """Whether a call of this method would run the user's own code."""
    function = on_class(kind, method)
    code = getattr(inspect.unwrap(function), "__code__", None) if isinstance(function, types.FunctionType) else None
    if code is not None:
        return is_users(code.co_filename)
    return function is not None and not isinstance(function, (types.WrapperDescriptorType, types.MethodDescriptorType))


def is_library(kind: type) -> bool:
    """Whether a class, and all that it inherits from, is an installed package's or Python's."""
    return not any(
        is_users(function.__code__.co_filename)
        for base in kind.__mro__
        for function in names_in(base).values()
        if isinstance(function, types.FunctionType)
    )


def length_of(value: Any) -> int | None:
    """Of containers of Python, numpy and torch, and of library classes such as a pandas.Series."""
    kind = type(value)
    if issubclass(kind, torch.Tensor):
        return int(value.shape[0]) if kind in _TENSORS and value.dim() else None
    for builtin in _BUILTIN:
        if issubclass(kind, builtin) and on_class(kind, "__len__") is on_class(builtin, "__len__"):
            return int(builtin.__len__(value))
    if on_class(kind, "__len__") is None or not is_library(kind):
        return None
    try:
        return len(value)
    except Exception:  # not every one knows
        return None


def element(values: Any, index: int) -> object:
    """An element of a sequence of Python, numpy or torch; raises what they raise, and TypeError for others."""
    if type(values) in _TENSORS:
        return values[index]
    return _base_of(values, (*_SEQUENCES, numpy.ndarray)).__getitem__(values, index)


def integers(values: Any) -> list[int] | None:
    """The numbers in a plain sequence of whole numbers; None where others would have to be asked for them."""
    kind = type(values)
    if kind in _TENSORS or kind is numpy.ndarray:
        whole = kind is numpy.ndarray and values.dtype.kind in "iu"
        whole = whole or (kind in _TENSORS and not values.dtype.is_floating_point and values.device.type == "cpu")
        return values.tolist() if whole and values.ndim == 1 else None
    if kind is range:
        return list(values)
    if not issubclass(kind, _SEQUENCES):
        return None
    found = [integer(item) for item in elements(values)]
    return None if None in found else found  # type: ignore[return-value]


def integer(value: Any) -> int | None:
    kind = type(value)
    if kind in (int, bool) or issubclass(kind, numpy.integer):
        return int(value)
    single = kind in _TENSORS and value.dim() == 0 and not value.dtype.is_floating_point and value.device.type == "cpu"
    return int(value) if single else None


def elements(values: Any) -> Iterator[Any]:
    """Of a list, tuple, deque, set or dict (view): what lies in it, whatever a subclass makes of its own `__iter__`."""
    found: Iterator[Any] = _base_of(values, _CONTAINERS).__iter__(values)
    return found


def count_in(values: Any) -> int:
    """How many elements lie in such a container, whatever a subclass makes of its own `__len__`."""
    return int(_base_of(values, _CONTAINERS).__len__(values))


def _base_of(values: object, bases: tuple[Any, ...]) -> Any:
    kind = type(values)
    base = next((base for base in bases if issubclass(kind, base)), None)
    if base is None:
        raise TypeError(kind.__name__)
    return base


def may_have_entries(kind: type) -> bool:
    return on_class(kind, "items") is not None and on_class(kind, "keys") is not None


def entries(value: Any) -> list[tuple[Any, Any]]:
    """The items of a mapping; none of what is no mapping, or of one that only the user's code can read."""
    kind = type(value)
    if issubclass(kind, dict):
        return list(dict.items(value))
    if issubclass(kind, UserDict):
        data: Any = attributes(value).get("data")
        return list(dict.items(data)) if issubclass(type(data), dict) else []
    readable = may_have_entries(kind) and is_library(kind) and kind.__module__.partition(".")[0] not in _CONFIGURATIONS
    return list(value.items()) if readable else []


def shown_key(key: Any) -> str:
    """A key as the user would write it."""
    kind = type(key)
    if issubclass(kind, Enum):
        return f"{kind.__name__}.{key._name_}"
    return repr(key) if kind in _PLAIN or (kind is tuple and all(type(part) in _PLAIN for part in key)) else "…"


class Notes(Generic[Value]):
    """Notes on objects, found by their identity and gone with them: their `__hash__` and `__eq__` are not called."""

    def __init__(self) -> None:
        self._notes: dict[int, tuple[weakref.ref[object], Value]] = {}

    def __setitem__(self, owner: object, note: Value) -> None:
        identity = id(owner)
        self._notes[identity] = (weakref.ref(owner, lambda gone: self._forget(identity, gone)), note)

    def __getitem__(self, owner: object) -> Value:
        reference, note = self._notes[id(owner)]
        if reference() is not owner:
            raise KeyError(id(owner))
        return note

    def __contains__(self, owner: object) -> bool:
        known = self._notes.get(id(owner))
        return known is not None and known[0]() is owner

    def get(self, owner: Any, default: Any = None) -> Any:
        known = self._notes.get(id(owner))
        return known[1] if known is not None and known[0]() is owner else default

    def _forget(self, identity: int, gone: weakref.ref[object]) -> None:
        known = self._notes.get(identity)
        if known is not None and known[0] is gone:
            del self._notes[identity]
