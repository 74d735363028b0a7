"""Shapes that a module's forward() declares for its inputs and output, compared with those it really gets and gives.

Read are annotations in jaxtyping's notation, `x: Float[Tensor, "batch time 80"]`, as text, so that nothing has to be
imported; and docstrings that give a shape in brackets, `x: (batch, time, 80)`.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

import torch

from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.capture.where import is_users, shown_path
from paramedic.record import facts
from paramedic.record.site import Site

ANNOTATION = re.compile(r"\[\s*(?:torch\.)?Tensor\s*,\s*([\"'])(.*?)\1\s*\]")
DOCUMENTED = re.compile(r"^\s*(\w+)\s*:\s*(?:[\w. ]*\bshape\s*)?[(\[]([\w*. ]+(?:,[\w*. ]*)+)[)\]]", re.MULTILINE)
NAME = re.compile(r"^[A-Za-z_]\w*$")
MOST_CLASSES = 200
Contract = tuple[str, list[str]]  # "annotation" or "docstring", and the dimensions


@probe("contracts", states=[facts.Contract])
class Contracts:
    """Looks at the first examined calls of each class of the user's own."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._known: dict[type, dict[str, Contract]] = {}

    @on(moments.module_called)
    def called(self, call: Call, args: Any, kwargs: Any, output: Any) -> None:
        kind = type(call.module)
        if kind not in self._known and len(self._known) < MOST_CLASSES:
            self._known[kind] = contracts_of(kind)
        declared = self._known.get(kind)
        if not declared:
            return
        given = _given(kind, call.module, args, kwargs) | {"return": output}
        sizes: dict[str, tuple[int, str]] = {}
        for name, (how, dims) in declared.items():
            tensor = given.get(name)
            if isinstance(tensor, torch.Tensor) and not tensor.is_nested:
                broken = _broken(dims, tensor.shape, sizes, name)
                if broken:
                    self._tell(call, kind, name, how, dims, tensor, broken)
                    return  # what follows from it would not fit either

    def _tell(self, call: Call, kind: type, name: str, how: str, dims: list[str], tensor: Any, broken: str) -> None:
        code = kind.forward.__code__  # type: ignore[attr-defined]
        data = facts.Contract(
            class_=kind.__name__,
            name=name,
            how=how,
            declared=dims,
            got=list(tensor.shape),
            broken=broken,
            forward=Site(shown_path(code.co_filename), code.co_firstlineno),
        )
        site, phase = call.site, "train" if call.grad else "eval"
        self.watcher.state(data, site=site, module=call.path, phase=phase, key=(kind, name, broken))


def contracts_of(kind: type) -> dict[str, Contract]:
    """The declared shapes of forward()'s parameters, and of what it returns."""
    forward = getattr(kind, "forward", None)
    code = getattr(forward, "__code__", None)
    if code is None or not is_users(code.co_filename):
        return {}
    found: dict[str, Contract] = {}
    for name, dims in DOCUMENTED.findall(inspect.getdoc(forward) or ""):
        found["return" if name.lower() in ("return", "returns") else name] = ("docstring", _split(dims, ","))
    for name, annotation in _annotations(forward).items():
        match = ANNOTATION.search(annotation)
        if match:
            found[name] = ("annotation", _split(match[2], " "))
    return found


def _annotations(forward: Any) -> dict[str, str]:
    """As they are written: jaxtyping's own objects do not show their notation."""
    try:
        text = inspect.getsource(forward)
    except (OSError, TypeError):
        return {}
    head, _, _ = text.partition(":\n")
    returned = re.search(r"->\s*(.+)$", head, re.S)
    found = dict(re.findall(r"(\w+)\s*:\s*(\w+\[[^\]]*\])", head))
    return found | ({"return": returned[1]} if returned else {})


def _split(dims: str, separator: str) -> list[str]:
    return [dim.strip() for dim in dims.split(separator) if dim.strip()]


def _given(kind: type, module: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    try:
        return inspect.signature(kind.forward).bind(module, *args, **kwargs).arguments  # type: ignore[attr-defined]
    except TypeError:
        return {}


def _broken(dims: list[str], shape: torch.Size, sizes: dict[str, tuple[int, str]], name: str) -> str:
    """What does not fit, in words; names get their size from where they come first."""
    if any(dim.startswith(("*", ".")) for dim in dims):
        return ""  # any number of dimensions
    if len(dims) != len(shape):
        return f"{len(shape)} dimensions instead of {len(dims)}"
    for number, (dim, size) in enumerate(zip(dims, shape, strict=True)):
        if dim.isdigit() and int(dim) != size:
            return f"dimension {number} is {size} instead of {dim}"
        if NAME.match(dim) and len(dim.strip("_")) > 0:
            known = sizes.setdefault(dim, (size, name))
            if known[0] != size:
                return f"{dim} is {size} here, but {known[0]} in {known[1]}"
    return ""
