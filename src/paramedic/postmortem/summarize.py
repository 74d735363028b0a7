"""`paramedic.summarize(x)`: any value in one line, without running any of the user's code.

Types are looked at with `issubclass(type(x), ...)`: `isinstance` would ask the object itself for its `__class__`.
"""

from __future__ import annotations

import dataclasses
import enum
import itertools
import numbers
import pathlib
import sys
import types
from typing import Any

MOST_TEXT = 60  # characters of a string
MOST_ITEMS = 3  # of a container
DEPTH = 2

_PLAIN = (int, float, complex, bool, type(None), type(Ellipsis), slice, range)


class Summary(str):
    """A text that a notebook shows as it is, without quotation marks and with its lines."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self)}</pre>"


def summarize(value: object, *, plot: bool = False, width: int = 80) -> str:
    """One line about a tensor or any other value; with `plot` a histogram (and a map of a matrix) below it.

    Never raises and changes nothing: of tensors shape, type, device, NaN and Inf counts, range, mean ± deviation and
    the operation they come from; of containers their size and first items; of other objects their attributes.
    """
    text = brief(value)
    if plot:
        from paramedic.postmortem.plots import plot_of

        drawn = plot_of(value, width)
        return Summary(f"{text}\n{drawn}" if drawn else text)
    return Summary(text)


def brief(value: Any, depth: int = DEPTH) -> str:
    """The same without the plot; `depth` says how far into containers to look."""
    try:
        return _brief(value, depth)
    except Exception as error:  # a foreign metaclass can do anything
        return f"a value that cannot be shown ({type(error).__name__})"


def is_tensor(value: object) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and issubclass(type(value), getattr(torch, "Tensor", ()))


def is_module(value: object) -> bool:
    nn = sys.modules.get("torch.nn")
    return nn is not None and issubclass(type(value), getattr(nn, "Module", ()))


def is_optimizer(value: object) -> bool:
    optim = sys.modules.get("torch.optim")
    return optim is not None and issubclass(type(value), getattr(optim, "Optimizer", ()))


def _brief(value: Any, depth: int) -> str:
    kind = type(value)
    if is_tensor(value):
        from paramedic.postmortem import tensors

        return tensors.summary(value) if depth == DEPTH else tensors.header(value)
    if kind in (str, bytes, bytearray):
        return _text(value)
    if kind is int and value.bit_length() > 256:
        return f"an integer of {value.bit_length():,} bits"
    if kind in _PLAIN or (kind.__module__ == "torch" and kind.__name__ in ("dtype", "device", "Size", "memory_format")):
        return repr(value)
    if kind.__module__ == "numpy":
        return _numpy(value)
    if issubclass(kind, enum.Enum):
        return f"{kind.__name__}.{value._name_}"
    if issubclass(kind, pathlib.PurePath):
        return f"{kind.__name__}({_text(str(value))})"
    if is_module(value):
        return _module(value)
    if is_optimizer(value):
        return _optimizer(value)
    if issubclass(kind, BaseException):
        told = value.args[0] if type(value.args) is tuple and value.args else ""
        told = told if type(told) is str else brief(told, 0)
        return f"{kind.__name__}: {told}"[: MOST_TEXT * 2] if told else kind.__name__
    if issubclass(kind, (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)):
        return f"{kind.__name__} {value.__name__}"
    return _container(value, kind, depth) or _object(value, kind, depth)


def _text(value: Any) -> str:
    if len(value) <= MOST_TEXT:
        return repr(value)
    return f"{value[:MOST_TEXT]!r}… ({len(value):,} {'characters' if type(value) is str else 'bytes'})"


def _numpy(value: Any) -> str:
    numpy = sys.modules["numpy"]
    if type(value) is not numpy.ndarray:
        return repr(value) if isinstance(value, numbers.Number) else type(value).__name__
    shape = f"({', '.join(map(str, value.shape))})"
    header = f"ndarray {shape} {value.dtype}"
    if not value.size or value.dtype.kind not in "fiub":
        return header
    flat = value[tuple(slice(None, None, max(1, -(-size // 1000))) for size in value.shape)]
    if value.dtype.kind == "f":
        bad = int((~numpy.isfinite(flat)).sum())
        flat = flat[numpy.isfinite(flat)]
        header += f" · {bad:,} not finite" if bad else ""
    return f"{header} · {flat.min():.3g} … {flat.max():.3g}" if flat.size else header


def _module(value: Any) -> str:
    kind = type(value)
    # What torch's own modules say of themselves is safe and short; a user's extra_repr is code of the user.
    own = kind.__module__.startswith("torch.nn") and "_modules" in value.__dict__
    details = value.extra_repr() if own else ""
    children = len(value.__dict__.get("_modules", ()))
    mode = "" if value.__dict__.get("training", True) else ", eval mode"
    inner = f"{children} submodule{'s' if children > 1 else ''}" if children and not details else details
    return f"{kind.__name__}({inner}){mode}"


def _optimizer(value: Any) -> str:
    groups = value.__dict__.get("param_groups", [])
    rates = ", ".join(dict.fromkeys(brief(group.get("lr"), 0) for group in groups))
    return f"{type(value).__name__}(lr={rates}, {sum(len(group['params']) for group in groups):,} parameters)"


def _container(value: Any, kind: type, depth: int) -> str:
    base = next((base for base in (dict, list, tuple, set, frozenset) if issubclass(kind, base)), None)
    if base is None:
        return ""
    size = base.__len__(value)  # not len(): a subclass may have ideas of its own
    head = kind.__name__ if size else f"{kind.__name__}, empty"
    if not size or depth <= 0:
        return f"{head} of {size:,}" if size else head
    shown = list(itertools.islice(base.items(value) if base is dict else base.__iter__(value), MOST_ITEMS))
    if base is dict:
        items = [f"{brief(key, 0)}: {brief(item, depth - 1)}" for key, item in shown]
    else:
        items = [brief(item, depth - 1) for item in shown]
    more = ", …" if size > len(shown) else ""
    return f"{head} of {size:,}: {'{' if base is dict else '['}{', '.join(items)}{more}{'}' if base is dict else ']'}"


def _object(value: object, kind: type, depth: int) -> str:
    attributes = _attributes(value, kind)
    if not attributes or depth <= 0:
        return f"{kind.__name__} object"
    shown = [f"{name}={brief(item, depth - 1)}" for name, item in itertools.islice(attributes.items(), MOST_ITEMS)]
    return f"{kind.__name__}({', '.join(shown)}{', …' if len(attributes) > len(shown) else ''})"


def _attributes(value: object, kind: type) -> dict[str, object]:
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    if type(own) is not dict:
        return {}
    if dataclasses.is_dataclass(kind):
        return {name: own[name] for name in kind.__dataclass_fields__ if name in own}
    return {name: item for name, item in own.items() if isinstance(name, str) and not name.startswith("_")}
