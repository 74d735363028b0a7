"""What a rule reads, taken from its code: it need not be declared, so it cannot become outdated.

Follows the functions and classes of the rule's own package and of `paramedic.rules` that the check names, and those
that these name. A kind of fact named anywhere along the way counts as read: it may be, in some run.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

from paramedic.record.facts import Fact, known_as
from paramedic.record.samples import ROLES
from paramedic.record.sources import SERIES


@functools.cache
def reads(check: Callable[..., Any]) -> frozenset[str]:
    """All that the check may ask a run for, in the names that `Run.read` notes."""
    packages = {"paramedic.rules", _package(check)}
    found: set[str] = set()
    seen: set[int] = set()
    waiting: list[Any] = [check]
    while waiting:
        item = _unwrapped(waiting.pop())
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, type) and issubclass(item, Fact):
            found.add(known_as(item).name)
        elif isinstance(item, type) and _belongs(item, packages):
            waiting += vars(item).values()
        elif isinstance(item, FunctionType) and _belongs(item, packages):
            for code in _codes(item.__code__):
                waiting += [item.__globals__[name] for name in code.co_names if name in item.__globals__]
                found |= set(_numbers(code))
        elif isinstance(item, tuple | list | set | frozenset):
            waiting += item
        elif isinstance(item, dict):
            waiting += [*item, *item.values()]
    return frozenset(found)


def _package(check: Callable[..., Any]) -> str:
    """Where helpers of a third-party rule may be defined."""
    top = check.__module__.partition(".")[0]
    return "paramedic.rules" if top == "paramedic" else top


def _belongs(item: Any, packages: set[str]) -> bool:
    return any(f"{item.__module__}.".startswith(f"{package}.") for package in packages)


def _unwrapped(item: Any) -> Any:
    """The function behind a property, a cache or a method of the class."""
    for name in ("func", "fget", "__wrapped__", "__func__"):
        if isinstance(inner := getattr(item, name, None), FunctionType):
            return inner
    return item


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code, and that of the functions and comprehensions within."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _numbers(code: CodeType) -> Iterator[str]:
    """Statistics and series are asked for by name: `run.samples("gradient")`, `run.curves("loss")`."""
    asked = set(code.co_names)
    for text in (constant for constant in code.co_consts if isinstance(constant, str)):
        if "samples" in asked and text in ROLES:
            yield f"samples of {text}"
        if asked & {"series", "curves"} and (series := text.partition(":")[0]) in SERIES:
            yield f"points of {series}"
