"""Find the line that stores into a variable, and whether anything ever takes out of it again."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from paramedic.capture.code.trees import tree
from paramedic.capture.holders import Holder
from paramedic.program.untouched import attributes
from paramedic.program.where import is_users, shown_path
from paramedic.record.writer import NOWHERE, Site

_ADDS = {"append", "appendleft", "extend", "add", "insert", "update", "setdefault", "put"}
_TAKES = {"pop", "popleft", "popitem", "remove"}


class Effect(Enum):
    """What a statement does to a variable."""

    GROWS = "more is stored in it"
    SHRINKS = "something is taken out of it"
    STARTS = "it is assigned or cleared"


class Use(NamedTuple):
    """A statement that does something to a variable."""

    line: int
    function: str
    effect: Effect


def stored_at(holders: list[Holder]) -> Site:
    """The line that makes one of these variables grow; they are names of the same object."""
    for holder in holders:
        for file in holder.files:
            for use in _uses(file, holder.name):
                # The function a local variable belongs to is where it is stored, unless it is passed on.
                if use.effect is Effect.GROWS and use.function == (holder.function or use.function):
                    return Site(shown_path(file), use.line, use.function)
    return NOWHERE


def is_window(holders: list[Holder]) -> bool:
    """Whether some line takes single elements out of the container, as one does to keep the latest only."""
    return any(Effect.SHRINKS in _effects(holder) for holder in holders)


def is_begun_anew(holders: list[Holder]) -> bool:
    """Whether the container is cleared or replaced at times; its first assignment is how it came to be."""
    return any(_effects(holder).count(Effect.STARTS) > 1 for holder in holders)


def _effects(holder: Holder) -> list[Effect]:
    return [use.effect for file in holder.files for use in _uses(file, holder.name)]


def filled_in(owner: object) -> list[tuple[str, Site]]:
    """The containers among an object's attributes that its methods store into, each with the line."""
    kind = type(owner)
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    names = [name for name, value in dict.items(attributes(owner)) if issubclass(type(value), (list, dict, set))]
    if not isinstance(file, str) or not is_users(file):
        return []
    own = [node for node in ast.walk(tree(file)) if isinstance(node, ast.ClassDef) and node.name == kind.__name__]
    return [
        (name, Site(shown_path(file), use.line, use.function))
        for name in names
        for body in own[:1]
        for use in _uses_in(body, "", name)
        if use.effect is Effect.GROWS and use.function != "__init__"
    ]


def assigned_at(file: str, function: str, name: str, before: int) -> int | None:
    """The last line of a function, up to a line, that assigns a variable or stores into it."""
    lines = [use.line for use in _uses(file, name) if use.function == function and use.effect is not Effect.SHRINKS]
    return max((line for line in lines if line <= before), default=None)


@functools.lru_cache(maxsize=256)
def _uses(file: str, name: str) -> tuple[Use, ...]:
    return tuple(_uses_in(tree(file), "<module>", name))


def _uses_in(node: ast.AST, function: str, name: str) -> Iterator[Use]:
    for child in ast.iter_child_nodes(node):
        inner = child.name if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)) else function
        effect = _effect(child, name)
        if effect is not None:
            yield Use(getattr(child, "lineno", 0), inner, effect)
        yield from _uses_in(child, inner, name)


def _effect(node: ast.AST, name: str) -> Effect | None:
    if isinstance(node, ast.AugAssign):
        return Effect.GROWS if _base(node.target) == name else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _base(node.func.value) == name:
        if node.func.attr in _ADDS:
            return Effect.GROWS
        if node.func.attr == "clear":
            return Effect.STARTS
        return Effect.SHRINKS if node.func.attr in _TAKES else None
    if isinstance(node, ast.Delete):
        return Effect.SHRINKS if any(_base(target) == name for target in node.targets) else None
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in [single for given in targets for single in _flat(given)]:
            if _base(target) == name:
                return _assigned(target, node.value, name)
    return None


def _assigned(target: ast.expr, value: ast.expr, name: str) -> Effect:
    if isinstance(target, ast.Subscript):
        return Effect.SHRINKS if isinstance(target.slice, ast.Slice) else Effect.GROWS
    mentions = [inner for inner in ast.walk(value) if isinstance(inner, (ast.Name, ast.Attribute))]
    if not any(_base(inner) == name for inner in mentions):
        return Effect.STARTS
    # `kept = kept[-100:]` shrinks, `total = total + loss` grows.
    return Effect.SHRINKS if isinstance(value, ast.Subscript) else Effect.GROWS


def _flat(target: ast.expr) -> list[ast.expr]:
    return list(target.elts) if isinstance(target, (ast.Tuple, ast.List)) else [target]


def _base(node: ast.expr) -> str | None:
    """The last identifier before any subscripts: history of `self.history["loss"]`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None
