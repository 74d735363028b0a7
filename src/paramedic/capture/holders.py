"""Walk the user's variables: which name holds which list, dict or tensor."""

from __future__ import annotations

import functools
import re
import sys
import types
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from paramedic.aliases import Fields
from paramedic.capture.sizes import size_of
from paramedic.frozen import dataclass
from paramedic.program.untouched import attributes, count_in, element, elements, names_in, shown_key
from paramedic.program.where import is_users, locals_of, user_frame

MOST_VISITS = 20_000
DEEPEST = 7
ENDS = 4  # of a long container only so many elements from either end are looked into

_CAPACITY, _DURATION = re.compile("cap|max|limit|size|len"), re.compile("step|epoch|iter|batch")
_CONTAINERS = (list, tuple, dict, set, deque)
# What torch keeps in a module, and no user stores anything in; its hooks stay, for they lead to their owners.
_OF_TORCH = {"_parameters", "_buffers", "_modules", "_non_persistent_buffers_set", "_is_full_backward_hook", "training"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A variable, or an attribute of an object that a variable leads to."""

    path: str  # as the user would write it: trainer.history["loss"]
    name: str  # its last identifier: history
    files: tuple[str, ...]  # where the line that stores into it may be
    function: str | None = None  # of a local variable: the function it belongs to
    room: int = 0  # of an attribute: a capacity that its owner mentions, or the length of the data set it belongs to


def holders(models: Iterable[tuple[str, nn.Module]] = ()) -> Iterator[tuple[Holder, object]]:
    """The tensors and containers among what can be reached."""
    for holder, value in reached(models):
        # Not isinstance: it would run foreign __class__ properties of whatever lies around.
        if issubclass(type(value), (torch.Tensor, *_CONTAINERS)):
            yield holder, value


def reached(models: Iterable[tuple[str, nn.Module]] = ()) -> Iterator[tuple[Holder, object]]:
    """Everything that the user's running functions, their modules and `models` can reach, by name.

    The innermost function comes first. An object that has several names comes with each of them.
    """
    waiting: deque[tuple[Holder, object, int]] = deque(_roots())
    # A framework may hold the model where no variable of the user's leads to.
    waiting.extend((Holder(path=name, name=name, files=()), model, 0) for name, model in models)
    entered: set[int] = set()
    visits = 0
    while waiting and visits < MOST_VISITS:
        holder, value, level = waiting.popleft()
        visits += 1
        yield holder, value
        if id(value) in entered or level >= DEEPEST or issubclass(type(value), torch.Tensor):
            continue
        entered.add(id(value))
        waiting.extend((inner, item, level + 1) for inner, item in _inside(holder, value))


def _roots() -> Iterator[tuple[Holder, object, int]]:
    frame = user_frame()
    modules: dict[int, tuple[str, dict[str, Any]]] = {}
    while frame is not None:
        file = frame.f_code.co_filename
        if is_users(file):
            modules.setdefault(id(frame.f_globals), (file, frame.f_globals))
            if frame.f_code.co_name != "<module>":
                for name, value in locals_of(frame).items():
                    yield Holder(path=name, name=name, files=(file,), function=frame.f_code.co_name), value, 0
        frame = frame.f_back
    for file, names in modules.values():
        for name, value in list(dict.items(names)):
            if not name.startswith("__"):
                yield Holder(path=name, name=name, files=(file,)), value, 0


def _inside(holder: Holder, value: Any) -> Iterator[tuple[Holder, object]]:
    kind = type(value)
    if issubclass(kind, _CONTAINERS):
        yield from _elements(holder, value)
    elif issubclass(kind, types.FunctionType):
        yield from _variables_of(holder, value)
    elif issubclass(kind, types.MethodType):
        yield holder, value.__self__
        yield holder, value.__func__
    elif issubclass(kind, functools.partial):
        yield holder, value.func
        yield holder, list(value.args)
    elif issubclass(kind, DataLoader):
        yield _inner(holder, f"{holder.path}.dataset", "dataset"), attributes(value).get("dataset")
    elif issubclass(kind, types.ModuleType):
        if _file_of(value):
            yield from _attributes(holder, value, dict(attributes(value)), str(_file_of(value)))
    elif issubclass(kind, type):
        if (file := _file_of_class(value)) is not None:
            yield from _attributes(holder, value, dict(names_in(value)), file)
    elif issubclass(kind, nn.Module) or _file_of_class(kind) is not None:
        file = _file_of_class(kind) or next(iter(holder.files), "")
        own = attributes(value)
        yield from _attributes(holder, value, own, file)
        if issubclass(kind, nn.Module):
            modules = own.get("_modules")  # a scripted module keeps something else there
            for name, child in list(dict.items(modules)) if isinstance(modules, dict) else ():
                yield _inner(holder, f"{holder.path}.{name}", name), child
        yield holder, kind  # lists that belong to the class


def _elements(holder: Holder, value: Any) -> Iterator[tuple[Holder, Any]]:
    if issubclass(type(value), dict):
        for key, item in ends(dict.items(value)):
            yield _inner(holder, f"{holder.path}[{shown_key(key)}]", holder.name), item
    else:
        for item in ends(value):
            yield _inner(holder, f"{holder.path}[…]", holder.name), item


def ends(values: Any) -> list[Any]:
    """All elements of a short container; of a long one the first and the last."""
    if count_in(values) <= 8 * ENDS:
        return list(elements(values))
    first = list(islice(elements(values), ENDS))
    if isinstance(values, (list, tuple, deque)):
        return [*first, *(element(values, index) for index in range(-ENDS, 0))]
    return first


def _variables_of(holder: Holder, function: types.FunctionType) -> Iterator[tuple[Holder, Any]]:
    """What a function keeps between its calls: the variables it closes over, and its default arguments."""
    code = function.__code__
    if not is_users(code.co_filename):
        return
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
        try:
            yield Holder(path=name, name=name, files=(code.co_filename,)), cell.cell_contents
        except ValueError:  # not filled yet
            continue
    arguments = code.co_varnames[: code.co_argcount]
    for name, default in zip(reversed(arguments), reversed(function.__defaults__ or ()), strict=False):
        yield Holder(path=name, name=name, files=(code.co_filename,), function=code.co_name), default


def _attributes(holder: Holder, owner: Any, names: Fields, file: str) -> Iterator[tuple[Holder, Any]]:
    items = [(name, value) for name, value in list(dict.items(names)) if name not in _OF_TORCH]
    room = max([holder.room, _length(owner), *(value for name, value in items if _is_capacity(name, value))])
    for name, value in items:
        if not name.startswith("__"):
            yield (
                Holder(
                    path=f"{holder.path}.{name}",
                    name=name,
                    files=tuple(dict.fromkeys((file, *holder.files))),
                    room=room,
                ),
                value,
            )


def _inner(holder: Holder, path: str, name: str) -> Holder:
    return Holder(path=path, name=name, files=holder.files, function=holder.function, room=holder.room)


def _is_capacity(name: str, value: object) -> bool:
    return type(value) is int and bool(_CAPACITY.search(name)) and not _DURATION.search(name)


def _length(owner: object) -> int:
    """Of a data set: what it caches is bounded by it."""
    return (size_of(owner) or 0) if issubclass(type(owner), Dataset) else 0


def _file_of(module: types.ModuleType) -> str | None:
    file = attributes(module).get("__file__")
    return file if isinstance(file, str) and is_users(file) else None


def _file_of_class(kind: type) -> str | None:
    """The user's file that defines a class; None for classes of others."""
    module = sys.modules.get(kind.__module__)
    if module is None or kind.__module__ == "builtins":
        return None
    return _file_of(module) or ("<stdin>" if kind.__module__ == "__main__" else None)
