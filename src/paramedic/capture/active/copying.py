"""A copy of a model that may be asked anything, or the reason why there can be none."""

from __future__ import annotations

import argparse
import contextlib
import copy
import dataclasses
import dis
import enum
import functools
import io
import itertools
import pathlib
import random
import types
import warnings
from collections.abc import Iterator
from typing import Any

import numpy
import torch
from torch import nn

from paramedic.capture.facts import own_parameters, readable
from paramedic.capture.where import is_users

MOST_PARAMETERS = 20_000_000
_PLAIN = (
    int, float, str, bool, bytes, type(None), torch.dtype, torch.device, torch.Size, type, complex, range,
    numpy.generic, enum.Enum, pathlib.PurePath,
)  # fmt: skip
_SETTINGS = (argparse.Namespace, types.SimpleNamespace)  # and data classes: names for plain values
MOST_ITEMS = 5_000  # of a table that a forward pass may look into, such as a vocabulary
_CHANGES = {
    "append", "extend", "insert", "pop", "popitem", "remove", "clear", "update", "setdefault", "add", "discard",
    "sort", "reverse", "__setitem__", "__setattr__", "setattr", "delattr",
}  # fmt: skip
_CALLABLE = (types.FunctionType, types.BuiltinFunctionType, types.ModuleType, types.MethodType)


class CannotCopy(Exception):
    """Why this model is left alone."""


def private_copy(model: nn.Module) -> nn.Module:
    """A deep copy whose forward pass cannot be noticed by anybody."""
    if sum(t.numel() for t in (*model.parameters(), *model.buffers())) > MOST_PARAMETERS:
        raise CannotCopy("the model is too large to be copied")
    for module in model.modules():
        _check_module(module)
    try:
        return copy.deepcopy(model)
    except Exception as error:
        raise CannotCopy(f"the model cannot be copied ({type(error).__name__})") from None


def _check_module(module: nn.Module) -> None:
    name = type(module).__name__
    if module._forward_hooks or module._forward_pre_hooks:
        raise CannotCopy(f"{name} has hooks of its own")
    if isinstance(module, torch.jit.ScriptModule) or "torch.nn.parallel" in type(module).__module__:
        raise CannotCopy(f"{name} cannot be run by itself")
    for attribute, value in module.__dict__.items():
        if not attribute.startswith("_") and not _is_plain(value, 0):
            raise CannotCopy(f"{name}.{attribute} ({type(value).__name__}) might notice the copy")
    if not all(readable(p) for p in own_parameters(module).values()):
        raise CannotCopy(f"{name} has parameters that cannot be read")
    _check_code(type(module), name)


def _is_plain(value: Any, depth: int) -> bool:
    """Whether a copy of it is really a copy, and cheap."""
    if isinstance(value, (*_PLAIN, *_CALLABLE, nn.Module)) or (isinstance(value, torch.Tensor) and readable(value)):
        return True
    if isinstance(value, numpy.ndarray):
        return value.dtype != object
    if isinstance(value, functools.partial):
        return _is_plain(value.func, depth + 1) and _is_plain([*value.args, *value.keywords.values()], depth + 1)
    if isinstance(value, (list, tuple, set)):
        return depth < 3 and len(value) <= 64 and all(_is_plain(item, depth + 1) for item in value)
    if isinstance(value, dict):
        return depth < 3 and len(value) <= 64 and all(_is_plain(item, depth + 1) for item in value.values())
    if _holds_settings(value):
        return depth < 3 and all(_is_plain(item, depth + 1) for item in vars(value).values())
    return False


def _holds_settings(value: Any) -> bool:
    is_data = dataclasses.is_dataclass(value) and hasattr(value, "__dict__")
    return type(value) in _SETTINGS or (is_data and not isinstance(value, type))


def _check_code(kind: type, name: str) -> None:
    """The user's own methods must not write to, or call, objects outside of the module."""
    for base in kind.__mro__:
        for function in vars(base).values():
            code = getattr(function, "__code__", None)
            if code is None or not is_users(code.co_filename) or code.co_name == "__init__":
                continue
            for part in _parts(code):
                _check_part(part, function.__globals__, f"{name}.{code.co_name}", inner=part is not code)


def _parts(code: types.CodeType) -> Iterator[types.CodeType]:
    """A function's code, and that of the functions and comprehensions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _parts(constant)


def _check_part(code: types.CodeType, names: dict[str, Any], where: str, *, inner: bool) -> None:
    steps = list(dis.get_instructions(code))
    # A variable that a comprehension reads is stored as one of a closure, but is the function's own.
    outer = () if inner else code.co_freevars
    for step in steps:
        if step.opname == "STORE_GLOBAL" or (step.opname == "STORE_DEREF" and step.argval in outer):
            raise CannotCopy(f"{where} changes the global {step.argval}")
        if step.opname == "LOAD_GLOBAL":
            value = names.get(step.argval)
            if not (_is_harmless(value) or (_is_table(value) and _only_reads(code, steps))):
                raise CannotCopy(f"{where} uses the global object {step.argval}")


def _is_harmless(value: Any) -> bool:
    return isinstance(value, (*_PLAIN, *_CALLABLE, tuple, torch.Tensor, frozenset))


def _is_table(value: Any) -> bool:
    """Settings and lists of plain values: a configuration, a vocabulary. To read them leaves no trace."""
    if isinstance(value, (list, set)) or type(value) is dict:
        items = value.values() if isinstance(value, dict) else value
        return len(value) <= MOST_ITEMS and all(isinstance(item, _PLAIN) for item in items)
    return _holds_settings(value) and all(isinstance(item, _PLAIN) for item in vars(value).values())


def _only_reads(code: types.CodeType, steps: list[dis.Instruction]) -> bool:
    """No call or assignment in this code could change a global table."""
    writes = any(step.opname in ("STORE_SUBSCR", "DELETE_SUBSCR") for step in steps)
    renames = any(
        a.opname == "LOAD_GLOBAL" and b.opname in ("STORE_ATTR", "DELETE_ATTR") for a, b in itertools.pairwise(steps)
    )
    return not writes and not renames and not _CHANGES & set(code.co_names)


@contextlib.contextmanager
def unnoticed() -> Iterator[None]:
    """Random states as before, nothing printed, no gradients, no warnings."""
    states = random.getstate(), numpy.random.get_state()
    devices = [torch.cuda.current_device()] if torch.cuda.is_initialized() else []
    try:
        with (
            torch.random.fork_rng(devices=devices),
            torch.no_grad(),
            warnings.catch_warnings(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        random.setstate(states[0])
        numpy.random.set_state(states[1])
