"""What a fact is: a small frozen class, made one by a decorator that says its kind and what its absence means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar, cast, dataclass_transform

from paramedic import cells
from paramedic.findings import Where


@dataclass(frozen=True, slots=True, kw_only=True)
class Occurrence:
    """When and where a fact was stated."""

    id: int
    time: float  # seconds since the epoch
    step: int  # of the first occurrence
    last_step: int
    count: int  # how often, from `step` to `last_step`
    phase: str  # "setup", "train" or "eval"
    where: Where


class _Frozen(Protocol):
    """What facts and their parts have in common. One of each method serves them all: compiled for each of some two
    hundred classes, as dataclasses are, they would be felt at the start of every run."""

    DEFAULTS: ClassVar[dict[str, Any]]
    FACTORIES: ClassVar[dict[str, Callable[[], Any]]]
    COUNT: ClassVar[int]  # of fields


def _fill(self: _Frozen, /, **given: Any) -> None:
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
        missing = [item.name for item in fields(cast(Any, self)) if item.name not in values]
        raise TypeError(f"{type(self).__name__} needs {', '.join(missing)}")


def _show(self: object) -> str:
    shown = (f"{item.name}={getattr(self, item.name)!r}" for item in fields(cast(Any, self)) if item.repr)
    return f"{type(self).__name__}({', '.join(shown)})"


def _refuse(self: object, name: str, *_: object) -> None:
    raise FrozenInstanceError(f"cannot change field {name!r} of {type(self).__name__}")


T = TypeVar("T")


def _frozen(plain: type[T]) -> type[T]:
    """A dataclass with fields as keywords that cannot be changed, without code of its own."""
    body: Any = plain
    body.__init__, body.__repr__, body.__setattr__, body.__delattr__ = _fill, _show, _refuse, _refuse
    made: Any = dataclass(init=False, repr=False, eq=False, slots=True, kw_only=True)(plain)
    known = fields(made)
    made.DEFAULTS = {each.name: each.default for each in known if each.default is not MISSING}
    made.FACTORIES = {each.name: each.default_factory for each in known if each.default_factory is not MISSING}
    made.COUNT = len(known)
    return cast("type[T]", made)


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
def part(plain: type[T]) -> type[T]:
    """Make a class a part of facts: a parameter of a model, an operand of a call."""
    return _frozen(plain)


NOT_RECORDED = Occurrence(id=0, time=0.0, step=0, last_step=0, count=1, phase="setup", where=Where())


@part
class Fact:
    """Something that was seen. A probe fills in the fields, the record adds when and where."""

    occurrence: Occurrence = field(default=NOT_RECORDED, repr=False)

    @property
    def id(self) -> int:
        return self.occurrence.id

    @property
    def time(self) -> float:
        return self.occurrence.time

    @property
    def step(self) -> int:
        return self.occurrence.step

    @property
    def last_step(self) -> int:
        return self.occurrence.last_step

    @property
    def count(self) -> int:
        """How often it happened, from `step` to `last_step`."""
        return self.occurrence.count

    @property
    def phase(self) -> str:
        return self.occurrence.phase

    @property
    def where(self) -> Where:
        return self.occurrence.where

    @property
    def module(self) -> str | None:
        return self.where.module

    @property
    def line(self) -> str:
        """The place as people write it."""
        return cells.spot(self.where.file, self.where.line) if self.where.file else "an unknown line"


class Kind(NamedTuple):
    """How a class of facts is known to the record, and what a rule that lacks it tells the user."""

    name: str
    missing: str


F = TypeVar("F", bound=Fact)
_KINDS: dict[type[Fact], Kind] = {}


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
def fact(name: str, *, missing: str) -> Callable[[type[F]], type[F]]:
    """Make a class a kind of fact: `name` in the record, `missing` for the rule that needs one and has none."""

    def declare(plain: type[F]) -> type[F]:
        if any(kind.name == name for kind in _KINDS.values()):
            raise ValueError(f"there are two kinds of facts named {name!r}")
        made = _frozen(plain)
        _KINDS[made] = Kind(name, missing)
        return made

    return declare


def known_as(of: type[Fact]) -> Kind:
    """How the record knows this kind of fact."""
    return _KINDS[of]


def meaning(of: type[Fact]) -> str:
    """What such a fact says, as an item of a list."""
    text = (of.__doc__ or "").partition("\n")[0].rstrip(".")
    is_name = any(letter.isupper() for letter in text.split()[0][1:])  # NaN, CTC
    return text if is_name else text[0].lower() + text[1:]


def all_kinds() -> dict[type[Fact], Kind]:
    """Those of the modules that have been imported; `paramedic.record.facts` imports all."""
    return dict(_KINDS)
