"""Frozen dataclasses that share their methods.

The `dataclass` of Python writes and compiles methods for each class that it makes, which takes about a millisecond:
for all classes that a run imports, this would be felt at its start. One of each method serves them all as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from dataclasses import dataclass as compiled
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar, cast

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool, slots: bool, kw_only: bool) -> Callable[[type], type]:
        """What `dataclasses.dataclass` makes of a class with these options, which must all be true."""
        assert frozen and slots and kw_only
        return sharing


T = TypeVar("T")


class _Frozen(Protocol):
    DEFAULTS: ClassVar[dict[str, object]]
    FACTORIES: ClassVar[dict[str, Callable[[], object]]]
    COUNT: ClassVar[int]  # of fields


def sharing(plain: type[T], *, compared: bool = True) -> type[T]:
    """A dataclass with fields as keywords that cannot be changed, compared by their values or not at all."""
    body: Any = plain
    body.__init__, body.__repr__, body.__setattr__, body.__delattr__ = _fill, _show, _refuse, _refuse
    body.__getstate__, body.__setstate__ = _values, _restore
    if compared:
        body.__eq__, body.__hash__ = _equal, _hash
    made: Any = compiled(init=False, repr=False, eq=False, slots=True, kw_only=True)(plain)
    known = fields(made)
    made.DEFAULTS = {each.name: each.default for each in known if each.default is not MISSING}
    made.FACTORIES = {each.name: each.default_factory for each in known if each.default_factory is not MISSING}
    made.COUNT = len(known)
    return cast("type[T]", made)


def _fields(made: object) -> tuple[Field[object], ...]:
    return fields(cast(Any, made))


def _fill(self: _Frozen, /, **given: object) -> None:
    values = {**self.DEFAULTS, **given}
    for name, make in self.FACTORIES.items():
        if name not in given:
            values[name] = make()
    try:
        for name, value in values.items():
            object.__setattr__(self, name, value)
    except AttributeError:
        raise TypeError(f"{type(self).__name__} has no field {name!r}") from None
    if len(values) < self.COUNT:
        missing = [item.name for item in _fields(self) if item.name not in values]
        raise TypeError(f"{type(self).__name__} needs {', '.join(missing)}")


def _show(self: object) -> str:
    shown = (f"{item.name}={getattr(self, item.name)!r}" for item in _fields(self) if item.repr)
    return f"{type(self).__name__}({', '.join(shown)})"


def _refuse(self: object, name: str, *_: object) -> None:
    raise FrozenInstanceError(f"cannot change field {name!r} of {type(self).__name__}")


def _values(self: object) -> list[object]:
    return [getattr(self, item.name) for item in _fields(self)]


def _restore(self: object, values: list[object]) -> None:
    for item, value in zip(_fields(self), values, strict=True):
        object.__setattr__(self, item.name, value)


def _equal(self: object, other: object) -> bool:
    return _values(self) == _values(other) if type(other) is type(self) else NotImplemented


def _hash(self: object) -> int:
    return hash(tuple(_values(self)))
