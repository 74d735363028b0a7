"""Every kind of fact: it survives the record, and its fields are its own."""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Mapping, Sequence
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

from paramedic.record.facts import Fact, Occurrence, all_kinds, known_as
from paramedic.record.facts.storing import restored, stored

KINDS = sorted(all_kinds(), key=lambda kind: known_as(kind).name)
PLAIN = {int: 7, float: 0.5, str: "ü", bool: True, Any: "any", object: "any"}


def example(hint: Any) -> Any:
    """A value of this type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in PLAIN:
        return PLAIN[hint]
    if origin in (Union, types.UnionType):
        return example(arguments[0])
    if dataclasses.is_dataclass(hint):
        return filled(hint)
    if isinstance(hint, type) and hasattr(hint, "_fields"):
        return hint(*(example(field) for field in get_type_hints(hint).values()))
    if origin is tuple and arguments[-1] is not ...:
        return tuple(example(argument) for argument in arguments)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"key": example(arguments[1])}
    assert issubclass(origin, Sequence), hint
    return [example(arguments[0])]


def filled(made: Any) -> Any:
    hints = get_type_hints(made)
    return made(**{f.name: example(hints[f.name]) for f in dataclasses.fields(made) if f.name != "occurrence"})


def text(fact: Any) -> str:
    return json.dumps(fact, default=stored, sort_keys=True)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: known_as(kind).name)
def test_a_fact_survives_the_record(kind: type[Fact]) -> None:
    fact = filled(kind)
    again = restored(kind, json.loads(text(fact)))
    assert text(again) == text(fact)
    hints = get_type_hints(kind)
    for field in dataclasses.fields(kind):
        before, after = getattr(fact, field.name), getattr(again, field.name)
        assert type(after) is type(before), f"{field.name}: {hints[field.name]}"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: known_as(kind).name)
def test_a_kind_explains_itself_and_hides_nothing(kind: type[Fact]) -> None:
    own = {field.name for field in dataclasses.fields(kind)} - {"occurrence"}
    assert not own & {*(field.name for field in dataclasses.fields(Occurrence)), "module", "line"}
    assert kind.__doc__ and kind.__doc__.strip().split("\n")[0].endswith(".") and known_as(kind).missing
