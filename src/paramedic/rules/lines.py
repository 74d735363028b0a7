"""From the line on which a fault shows to the line that must be edited: facts joined with the user's source.

Every function returns None, or nothing, if the source does not show it; the rule then keeps its fact's line.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import TypedDict

from paramedic.findings import Where
from paramedic.record.facts import LossCall, TrainForward
from paramedic.record.facts.fact import Fact
from paramedic.record.reader import Run
from paramedic.rules.support import at
from paramedic.static.blocks import without_gradients
from paramedic.static.definitions import Path
from paramedic.static.history import Link, history
from paramedic.static.program import arguments_at, called, calls_at, own_nodes, program, statement_at


def argument_history(
    run: Run, where: Where, names: Collection[str], position: int = 0, keyword: str = ""
) -> list[Link]:
    """What computed an argument of a call on this line, nearest first. Names are those of the functions called."""
    code = program(run)
    scope = code.scope(where.file, where.line)
    given = arguments_at(code, where, names, position, keyword)
    return history(code, scope, given[0]) if scope is not None and given else []


def target_history(run: Run, call: Fact, function: str) -> list[Link]:
    """What computed the second argument of a loss: of the named function, else of the widest call on the line."""
    named = argument_history(run, call.where, [function], 1)
    code = program(run)
    scope = code.scope(call.where.file, call.where.line)
    if named or scope is None or call.where.line is None:
        return named
    pairs = [node for node in calls_at(scope, call.where.line) if len(node.args) > 1]
    return history(code, scope, pairs[0].args[1]) if pairs else []


def loop_history(run: Run, where: Where, path: Path) -> list[Link]:
    """What computed a part of the batches of a `for` loop on this line."""
    code = program(run)
    scope = code.scope(where.file, where.line)
    head = statement_at(scope, where.line) if scope is not None and where.line is not None else None
    return history(code, scope, head.iter, path) if scope is not None and isinstance(head, ast.For) else []


def model_input_history(run: Run, where: Where, position: int = 0) -> list[Link]:
    """What computed the input of a fact's module, from the line that calls it or a module around it."""
    return argument_history(run, where, [part for part in (where.module or "").split(".") if part], position)


def first_link(links: list[Link], is_it: Callable[[ast.AST], bool]) -> Link | None:
    """The nearest statement whose expression looks like it."""
    return next((link for link in links if is_it(link.node)), None)


def outermost(link: Link) -> Link:
    """From inside helper functions out to the line that calls them, up to the function that returns the samples."""
    while link.user is not None and link.user.scope != link.scope and link.user.scope.function is not None:
        link = link.user
    return link


def caller(link: Link) -> Link:
    """Out of a helper function to the statement that calls it: the helper is right, its place is wrong."""
    user: Link | None = link
    while user is not None and link.calls and len(user.calls) >= len(link.calls):
        user = user.user
    return user or link


def applied_at(run: Run, call: LossCall) -> Places:
    """Where forward() applies the function that made a loss's input; inside of a Sequential, where that is built."""
    made = call.made_at
    shown = at(call, made[1:] if made else None)
    if made is None or spelled_at(run, shown, [made[0]]):
        return Places(where=shown, also=())
    return edited_at(shown, call_of(run, (call.maker or "").partition(" ")[0]))


def spelled_at(run: Run, where: Where, names: Collection[str]) -> bool:
    """Whether the user's line calls one of these functions itself; otherwise a module or a library does."""
    scope = program(run).scope(where.file, where.line)
    calls = calls_at(scope, where.line) if scope is not None and where.line is not None else []
    return any(called(call) in names for call in calls)


def call_of(run: Run, path: str) -> Link | None:
    """The line of the user's forward() that calls a module by its attribute; None if there are several."""
    name = path.rpartition(".")[2]
    found = []
    for scope in program(run).scopes() if name else []:
        calls = [node for node in own_nodes(scope.body) if isinstance(node, ast.Call)]
        found += [Link(c.lineno, c, scope, "called") for c in calls if ast.unparse(c.func) == f"self.{name}"]
    return found[0] if len(found) == 1 else None


def layers(parameters: Iterable[str]) -> set[str]:
    """The attributes on the way to parameters: "stages" and "conv" of "net.stages.0.conv.weight"."""
    return {part for name in parameters for part in name.split(".")[1:-1] if not part.isdigit()}


def with_gradients(link: Link) -> bool:
    """Whether the value is used where gradients are enabled, not in an evaluation."""
    user: Link | None = link
    while user is not None:
        if without_gradients(user.scope, user.line):
            return False
        user = user.user
    return True


def put_together(links: list[Link]) -> Link | None:
    """The statement that computes a value from several, or from nothing visible: before it there is no such value."""
    readers = [link.user for link in links]
    for link in links:
        if link.kind != "given" and readers.count(link) != 1:
            return link
    return None


def in_common(one: list[Link], other: list[Link]) -> list[Link]:
    """The statements that two values have both gone through, in one and the same call of their function."""
    places = {(link.where.file, link.line, link.calls) for link in other}
    return [link for link in one if (link.where.file, link.line, link.calls) in places]


def common(one: list[Link], other: list[Link]) -> Link | None:
    """The last statement that two values have both gone through, preferably one that splits something."""
    shared = in_common(one, other)
    statements = [(link, statement_at(link.scope, link.line)) for link in shared]
    parting = [link for link, s in statements if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Tuple)]
    return next(iter(parting or shared), None)


def part_of(shown: str) -> Path:
    """A tensor's path in its batch: (0,) of "[0]", ("image",) of "['image']"."""
    keys = [key.strip("'\"") for key in re.findall(r"\[([^\]]+)\]", shown)]
    return tuple(int(key) if key.isdigit() else key for key in keys)


class Places(TypedDict):
    """What a Finding says of its place."""

    where: Where
    also: tuple[Where, ...]


def edited_at(shown: Where, link: Link | None) -> Places:
    """The line to edit first, if it is known, and the one on which the fault shows as a further place."""
    if link is None or (link.where.file, link.line) == (shown.file, shown.line):
        return Places(where=shown, also=())
    where = replace(shown, file=link.where.file, line=link.line, function=link.where.function)
    return Places(where=where, also=(shown,))


def chosen_at(call: LossCall) -> Places:
    """Where a loss was chosen: where its module was built, or else called."""
    if call.built_at is None:
        return Places(where=call.where, also=())
    return Places(where=at(call, call.built_at), also=(call.where,))


def input_assembled(run: Run) -> Link | None:
    """Where the input of the trained model is assembled."""
    calls = run.facts(TrainForward)
    return put_together(model_input_history(run, calls[0].where)) if calls else None
