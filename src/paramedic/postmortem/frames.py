"""The user's frames of a traceback, each with the values that its statement reads."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import NamedTuple

from paramedic.postmortem.lookup import Missing, Unknown, evaluate
from paramedic.postmortem.statements import statement_at
from paramedic.program.where import is_users, locals_of, shown_path

MOST_VALUES = 10  # per frame
_HIDDEN = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, type)


class Value(NamedTuple):
    """What an expression of the user's code stood for."""

    name: str
    value: object = None
    missing: str | None = None  # why there is no such value


class Spot(NamedTuple):
    """A place in the user's code that was being executed."""

    file: str
    line: int
    function: str
    text: str
    values: list[Value]
    repeats: int = 1  # how many frames of a recursion look like this one
    later: bool = False  # the frame has gone on since: the exception was caught in it

    def without_missing(self) -> Spot:
        return self._replace(values=[value for value in self.values if value.missing is None])


class At(NamedTuple):
    """A frame and the line it was at."""

    frame: FrameType
    line: int
    instruction: int
    later: bool = False


def spots(frames: list[At], *, most: int) -> list[Spot]:
    """The innermost user frames, outermost first, those of a recursion folded into one."""
    users = [at for at in frames if is_users(at.frame.f_code.co_filename)]
    folded: list[tuple[At, int]] = []
    for at in users:
        known = next((i for i, (other, _) in enumerate(folded) if _same_place(at, other)), None)
        repeats = folded.pop(known)[1] + 1 if known is not None and len(users) > most else 1
        folded.append((at, repeats))
    return [_spot(at, repeats) for at, repeats in folded[-most:]]


def _same_place(one: At, other: At) -> bool:
    return one.frame.f_code is other.frame.f_code and one.line == other.line


def _spot(at: At, repeats: int) -> Spot:
    frame, line, instruction, later = at
    code = frame.f_code
    statement = statement_at(frame, line, instruction)
    values: list[Value] = []
    if statement is not None:
        local = locals_of(frame)
        # A local name that is not bound is not the global one of the same name.
        shared = {n: v for n, v in frame.f_globals.items() if n not in {*code.co_varnames, *code.co_cellvars}}
        values = list(_values(statement.reads, local, shared))[:MOST_VALUES]
    name = getattr(code, "co_qualname", code.co_name).replace(".<locals>", "")
    return Spot(shown_path(code.co_filename), line, name, statement.text if statement else "", values, repeats, later)


def _values(reads: list[ast.expr], local: dict[str, object], shared: dict[str, object]) -> Iterator[Value]:
    shown: set[str] = set()
    for node in reads:
        value = _value(node, local, shared)
        if value is not None and value.name not in shown and not _boring(value):
            shown.add(value.name)
            yield value


def _value(node: ast.expr, local: dict[str, object], shared: dict[str, object]) -> Value | None:
    """Of `x.view` or `self.config.size` as much as can be told: `x`, `self.config`."""
    while True:
        name = ast.unparse(node)
        try:
            return Value(name, evaluate(node, local, shared))
        except Missing as missing:
            return None if isinstance(node, ast.Attribute) else Value(name, missing=str(missing))
        except Unknown:
            if not isinstance(node, ast.Attribute):
                return None
            node = node.value
            if isinstance(node, ast.Name) and node.id in ("self", "cls"):
                return None


def _boring(value: Value) -> bool:
    if value.missing is not None:
        return False
    return issubclass(type(value.value), _HIDDEN) or value.name.startswith("torch.")


def of_traceback(traceback: TracebackType | None) -> list[At]:
    """The frames of a traceback with the line that each was at, outermost first."""
    found = []
    while traceback is not None:
        frame = traceback.tb_frame
        later = frame.f_lasti != traceback.tb_lasti
        found.append(At(frame, traceback.tb_lineno, traceback.tb_lasti, later))
        traceback = traceback.tb_next
    return found


def of_thread(identity: int) -> list[At]:
    """The frames of a running thread, outermost first."""
    frame = sys._current_frames().get(identity)
    found = []
    while frame is not None:
        found.append(At(frame, frame.f_lineno, frame.f_lasti))
        frame = frame.f_back
    return found[::-1]
