"""What a fact is: a small frozen class, made one by a decorator that says its kind and what its absence means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import NamedTuple, TypeVar, dataclass_transform

from paramedic import cells
from paramedic.findings import Where
from paramedic.frozen import dataclass, sharing


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


T = TypeVar("T")


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
def part(plain: type[T]) -> type[T]:
    """Make a class a part of facts: a parameter of a model, an operand of a call."""
    return sharing(plain, compared=False)


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
        made = sharing(plain, compared=False)
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
