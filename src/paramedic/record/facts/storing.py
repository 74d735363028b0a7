"""Facts as the record stores them: JSON objects under the names of the fields.

A field that is a Python keyword carries an underscore at its end, which is not stored. What is not known (None, where
that is the default) is left out. Reading ignores fields that this version does not know, and gives missing ones their
defaults.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
Convert = Callable[[Any], Any]
Plan = list[tuple[str, str, Convert | None]]  # of a class: name of a field, its stored name, how to convert it


def stored(value: Any) -> Any:
    """For json.dumps: what it cannot write by itself."""
    if not is_dataclass(value) or isinstance(value, type):
        return str(value)
    found = {}
    for field in fields(value):
        content = getattr(value, field.name)
        if field.name != "occurrence" and not (content is None and field.default is None):
            found[field.name.rstrip("_")] = content
    return found


def restored(made: type[T], data: Mapping[str, Any], **more: Any) -> T:
    """The fact, or the part of one, that these data describe."""
    plan: Plan = _plan(made)  # type: ignore[arg-type]  # a class can be hashed
    known = {name: data[key] if convert is None else convert(data[key]) for name, key, convert in plan if key in data}
    return made(**known, **more)


@cache
def _plan(made: Any) -> Plan:
    hints = get_type_hints(made)
    names = [field.name for field in fields(made) if field.name != "occurrence"]
    return [(name, name.rstrip("_"), _converter(hints[name])) for name in names]


def _converter(hint: Any) -> Convert | None:
    """How to get from JSON to a value of this type; None where JSON has it already."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        inner = [convert for argument in arguments if (convert := _converter(argument)) is not None]
        return (lambda value: None if value is None else inner[0](value)) if inner else None
    if is_dataclass(hint):
        return lambda value: restored(hint, value)  # type: ignore[arg-type]
    if isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields"):
        return lambda value: hint(*value)
    if origin is None or not arguments:
        return None
    if origin is tuple and arguments[-1] is not ...:
        return tuple
    found = _converter(arguments[0] if origin is tuple else arguments[-1])
    if found is None:
        return None
    if issubclass(origin, Mapping):
        return lambda value: {key: found(content) for key, content in value.items()}
    return lambda value: [found(content) for content in value]
