"""The decorator that makes a class a probe. Probes are found as rules are: a file in `probes/` is enough."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar

import paramedic.capture.probes
from paramedic.capture.bus import sources_of
from paramedic.record.facts import Fact, known_as

C = TypeVar("C", bound=type)


class Probe(NamedTuple):
    """A kind of probe. Built with the watcher; its `install`, if it has one, is called once all sources are there."""

    name: str  # as the record and messages call it
    states: tuple[type[Fact], ...]  # kinds of facts
    build: type[Any]


_PROBES: dict[str, Probe] = {}


def probe(name: str, *, states: Sequence[type[Fact]] = ()) -> Callable[[C], C]:
    """Declare a probe. Methods marked with `on` and `on_call_of` say what it listens to."""

    def declare(plain: C) -> C:
        if name in _PROBES:
            raise ValueError(f"there are two probes named {name!r}")
        _PROBES[name] = Probe(name, tuple(states), plain)
        return plain

    return declare


def lost_with(name: str) -> list[str]:
    """The kinds of facts that are incomplete once this probe, or this source of the moments it hears of, has failed."""
    return _kinds(kind for kind in _PROBES.values() if name == kind.name or name in sources_of(kind.build))


def seen_in_calls() -> list[str]:
    """The kinds of facts that only calls of modules and of functions on tensors show."""
    shown = {"module_calls", "ops"}
    return _kinds(
        kind
        for kind in _PROBES.values()
        if shown & (sources := sources_of(kind.build)) and not sources - shown - {"backward", "loop", "watcher"}
    )


def _kinds(probes: Iterable[Probe]) -> list[str]:
    return sorted({known_as(fact).name for kind in probes for fact in kind.states})


@cache
def all_probes() -> tuple[Probe, ...]:
    """Every probe, in the order of their files."""
    for module in pkgutil.walk_packages(paramedic.capture.probes.__path__, prefix="paramedic.capture.probes."):
        importlib.import_module(module.name)
    return tuple(_PROBES.values())
