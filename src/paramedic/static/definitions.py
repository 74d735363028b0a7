"""Which statements gave a variable the value that a line reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from paramedic.static.program import own_nodes

Path = tuple[int | str, ...]  # which part of a value: (1,) is y of `x, y = pair`, ("labels",) that of a dict

_BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.Match)
_GROWS = ("append", "extend", "add", "insert")


@dataclass(frozen=True, slots=True)
class Definition:
    """One statement that sets a variable, wholly or in part."""

    line: int
    value: ast.expr
    path: Path = ()  # the part of `value` that the variable gets
    whole: bool = True  # False: `x[i] = …`, `x += …`, `x.append(…)` leave some of what was there


def definitions(scope: ast.AST, name: str, before: int | None) -> list[Definition]:
    """Those that a read on this line may see, nearest first; without a line, all that may be seen at the end.

    Textual order stands for the order of execution: the last one before the line, and earlier ones as far as those
    between stand in branches or keep a part of the value. In a loop, what comes later on is seen by the next round.
    """
    found = [(node, definition) for node, definition in _all(scope, name)]
    earlier = [pair for pair in found if before is None or pair[1].line < before]
    seen = []
    for node, definition in sorted(earlier, key=lambda pair: -pair[1].line):
        seen.append(definition)
        if definition.whole and not _conditional(scope, node, before):
            return seen
    return seen or [definition for _, definition in found if before is not None and definition.line > before]


def _all(scope: ast.AST, name: str) -> Iterator[tuple[ast.AST, Definition]]:
    for node in own_nodes(scope):
        for definition in _made_by(node, name):
            yield node, definition


def _made_by(node: ast.AST, name: str) -> Iterator[Definition]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _from_target(target, node.value, name, node.lineno)
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        yield from _from_target(node.target, node.value, name, node.lineno)
    elif isinstance(node, ast.AugAssign) and _spelled(node.target) == name:
        yield Definition(node.lineno, node.value, whole=False)
    elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        yield from _from_target(node.target, node.iter, name, node.target.lineno)
    elif isinstance(node, ast.withitem) and node.optional_vars is not None:
        yield from _from_target(node.optional_vars, node.context_expr, name, node.optional_vars.lineno)
    elif isinstance(node, ast.Call) and name in _grown(node) and node.args:
        yield Definition(node.lineno, node.args[-1], whole=False)


def _grown(call: ast.Call) -> list[str]:
    """The list of `rows.append(row)`, or both of `(train if early else test).append(row)`."""
    method = call.func
    if not isinstance(method, ast.Attribute) or method.attr not in _GROWS:
        return []
    owner = method.value
    return [_spelled(part) for part in ([owner.body, owner.orelse] if isinstance(owner, ast.IfExp) else [owner])]


def _from_target(target: ast.expr, value: ast.expr, name: str, line: int, path: Path = ()) -> Iterator[Definition]:
    if isinstance(target, ast.Tuple | ast.List):
        for index, part in enumerate(target.elts):
            yield from _from_target(part, value, name, line, (*path, index))
    elif isinstance(target, ast.Starred):
        yield from _from_target(target.value, value, name, line, path[:-1])
    elif _spelled(target) == name:
        yield Definition(line, value, path)
    elif isinstance(target, ast.Subscript) and _spelled(target.value) == name:
        yield Definition(line, value, path, whole=False)


def _spelled(node: ast.AST) -> str:
    """`x`, `self.x`; nothing else can be followed."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return ""


def _conditional(scope: ast.AST, node: ast.AST, line: int | None) -> bool:
    """Whether a branch or loop holds the definition, but not the line that reads."""
    around = [b for b in own_nodes(scope) if isinstance(b, _BRANCHES) and b is not node and node in ast.walk(b)]
    return any(line is None or not branch.lineno <= line <= (branch.end_lineno or line) for branch in around)
