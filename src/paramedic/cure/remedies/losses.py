"""Which call on a line compares a prediction with a target."""

from __future__ import annotations

import libcst as cst

from paramedic.cure.source import Node, Source

WORDS = ("loss", "crit", "entropy", "objective", "kl", "ctc", "nll", "kd", "bce", "mse", "hinge")


def loss_calls(source: Source, line: int | None, fewest: int = 2) -> list[Node]:
    """By a name that says so; else the outermost call with enough arguments."""
    statement = source.statement_at(line)
    found = source.all(cst.Call, statement) if statement is not None else []
    found = [call for call in found if source.statement_of(call) is statement and len(call.args) >= fewest]
    named = [call for call in found if any(word in source.called(call).lower() for word in WORDS)]
    return named or found[:1]


def compared(source: Source, line: int | None, place: int) -> list[Node]:
    """The argument at this place of the calls that compare; the target is the second one, or has its name."""
    names = ("input", "target") if place < 2 else ()
    found = []
    for call in loss_calls(source, line, place + 1):
        value = source.argument(call, place, names[place] if names else "")
        if value is not None:
            found.append(value)
    return found
