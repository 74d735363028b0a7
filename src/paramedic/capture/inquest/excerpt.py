"""The statements of a running function that compute the loss: enough of its source to run that again.

Nothing is recorded for this while training goes well. The frame that called backward() is still alive with its
variables, so only the statements whose results carry a gradient have to be executed again; batches, random samples
and everything else that has a finite value already are taken from the frame as they are.
"""

from __future__ import annotations

import ast
import linecache
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

import torch

from paramedic.capture.inquest.lending import lent
from paramedic.capture.inquest.picking import picked
from paramedic.program.tensors import tensors_in
from paramedic.program.untouched import attributes
from paramedic.program.where import locals_of

_NOT_AGAIN = ("next", "open", "input", "exec", "eval", "step", "zero_grad", "save", "load", "__next__")
_COLLECTING = ("append", "extend", "update", "insert")


@dataclass(slots=True)
class Excerpt:
    """Compiled statements and the variables to run them with."""

    code: CodeType
    variables: dict[str, object]
    inputs: dict[str, object]  # those of them that the statements mention, as they were before
    function: str  # the name of the function they are from
    text: str  # the statements as they are written
    # Object, name, value: what the statements overwrite in the user's objects.
    attributes: list[tuple[object, str, object]]
    count: int  # of the statements
    in_loop: bool  # whether they stand in a loop


def excerpt(
    frame: FrameType, given: dict[str, object] | None = None, *, whole: bool = False, parts: bool = False
) -> Excerpt | None:
    """What leads to the statement that the frame is executing now; None if its source cannot be used.

    With `given`, these variables are taken instead of the frame's own. With `whole`, statements that made something
    without a gradient are run again as well: needed where they drew random numbers before the model did. With `parts`,
    what they pick from plain tensors by index becomes a variable.
    """
    tree = _parsed(frame.f_code.co_filename)
    scope = _scope(tree, frame) if tree is not None else None
    found = _leading_to(scope.body, _position(frame)) if scope is not None else None
    if found is None:
        return None
    before, last = found
    variables = {**frame.f_globals, **locals_of(frame)}
    loop = _loop_at(scope, frame.f_lineno)
    kept = _slice(before, last, variables, (loop or 0) if whole else None)
    variables.update(given or {})
    if any(isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)) for s in kept for node in ast.walk(s)):
        return None
    for statement in kept:  # a list that is added to must not grow for real
        base = _collected(statement)
        if base in variables and isinstance(variables[base], (list, dict, set)):
            variables[base] = variables[base].copy()
    if parts:
        kept = picked(kept, variables, {name for s in kept for name in _stored(s)})
    module = ast.Module(body=[_runnable(s) for s in kept], type_ignores=[])
    try:
        code = compile(ast.fix_missing_locations(module), frame.f_code.co_filename, "exec")
    except SyntaxError:  # a return or continue that makes no sense out of its place
        return None
    variables.update(lent({name: variables[name] for name in code.co_names if name in variables}))
    attributes = [known for s in kept for name in _stored(s) if (known := _attribute(name, variables)) is not None]
    inputs = {name: variables[name] for name in code.co_names if name in variables}
    text = "\n".join(ast.unparse(statement) for statement in kept)
    return Excerpt(code, variables, inputs, frame.f_code.co_name, text, attributes, len(kept), loop is not None)


_trees: dict[str, ast.Module | None] = {}


def _parsed(filename: str) -> ast.Module | None:
    if filename not in _trees:
        try:
            _trees[filename] = ast.parse("".join(linecache.getlines(filename)))
        except (SyntaxError, ValueError):
            _trees[filename] = None
    return _trees[filename]


def _scope(tree: ast.Module, frame: FrameType) -> Any:
    """The function that the frame runs, or the module."""
    if frame.f_code.co_name == "<module>":
        return tree
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and node.name == frame.f_code.co_name
        and node.lineno <= frame.f_lineno <= (node.end_lineno or 0)
    ]
    return max(found, key=lambda node: node.lineno) if found else None


def _position(frame: FrameType) -> tuple[int, int]:
    """Line and column (in bytes) of the call that the frame is executing: a line may hold several statements."""
    for index, (line, _, column, _) in enumerate(frame.f_code.co_positions()):
        if 2 * index == frame.f_lasti and line is not None and column is not None:
            return line, column
    return frame.f_lineno, 0


def _leading_to(block: list[ast.stmt], position: tuple[int, int]) -> tuple[list[ast.stmt], ast.stmt] | None:
    """The statements before the one at this position, from all blocks around it; and that statement itself."""
    for index, statement in enumerate(block):
        end = (statement.end_lineno or 0, statement.end_col_offset or 0)
        if position[0] < statement.lineno or position >= end:
            continue
        inner = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
        inner += [handler.body for handler in getattr(statement, "handlers", [])]
        for each in inner:
            found = _leading_to(each, position) if isinstance(each, list) else None
            if found is not None:
                return block[:index] + found[0], found[1]
        return None if any(inner) else (block[:index], statement)
    return None


def _loop_at(scope: Any, line: int) -> int | None:
    """The line at which the innermost loop around this line begins."""
    loops = [node for node in ast.walk(scope) if isinstance(node, (ast.For, ast.While))]
    return max((loop.lineno for loop in loops if loop.lineno <= line <= (loop.end_lineno or 0)), default=None)


def _slice(
    before: list[ast.stmt], last: ast.stmt, variables: dict[str, object], all_from: int | None
) -> list[ast.stmt]:
    """The statements that `last` depends on; from the line `all_from` on also those that made plain tensors."""
    kept, needed = [last], _loaded(last)
    for statement in reversed(before):
        again = _carries_gradient
        if all_from is not None and statement.lineno > all_from:
            again = _holds_tensors
        made = {name for name in _stored(statement) if name in needed and again(name, variables)}
        base = _collected(statement)
        if base in needed and _carries_gradient(base, variables):
            made.add(base)
        if made and _may_run_again(statement, variables):
            kept.insert(0, statement)
            needed = (needed - _replaced(statement)) | _loaded(statement)
    return kept


def _loaded(statement: ast.stmt) -> set[str]:
    return {
        name
        for node in ast.walk(statement)
        if isinstance(node, (ast.Name, ast.Attribute))
        and (isinstance(node.ctx, ast.Load) or isinstance(statement, ast.AugAssign))
        and (name := _dotted(node))
    }


def _stored(statement: ast.stmt) -> list[str]:
    found = []
    for node in ast.walk(statement):
        target: ast.AST = node
        while isinstance(target, ast.Subscript):
            target = target.value
        if isinstance(getattr(node, "ctx", None), ast.Store) and (name := _dotted(target)):
            found.append(name)
    return found


def _replaced(statement: ast.stmt) -> set[str]:
    """Variables that the statement gives a value of its own, whatever they held before."""
    if not isinstance(statement, ast.Assign):
        return set()
    targets = [part for t in statement.targets for part in (t.elts if isinstance(t, ast.Tuple) else [t])]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _collected(statement: ast.stmt) -> str:
    """`losses` of `losses.append(loss)`."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _COLLECTING:
        return _dotted(call.func.value)
    return ""


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value)
        return f"{base}.{node.attr}" if base else ""
    return node.id if isinstance(node, ast.Name) else ""


_MISSING = object()


def _value(name: str, variables: dict[str, object]) -> Any:
    first, *rest = name.split(".")
    value = variables.get(first, _MISSING)
    for attribute in rest:
        value = getattr(value, "__dict__", {}).get(attribute, _MISSING)
    return value


def _carries_gradient(name: str, variables: dict[str, object]) -> bool:
    """Whether the value was computed by something that backward() goes through, or is bad itself."""
    value = _value(name, variables)
    if value is _MISSING:
        return True  # deleted since
    return any(tensor.grad_fn is not None or _is_bad(tensor) for _, tensor in tensors_in(_opened(value)))


def _holds_tensors(name: str, variables: dict[str, object]) -> bool:
    value = _value(name, variables)
    return value is _MISSING or any(True for _ in tensors_in(_opened(value)))


def _opened(value: object) -> object:
    """A container, or the attributes of a small result object; nothing of modules and other big things."""
    if isinstance(value, (torch.Tensor, list, tuple, dict)):
        return value
    if hasattr(type(value), "__dataclass_fields__"):  # of the class: a user's __getattr__ is not called
        return attributes(value)
    return value if hasattr(type(value), "items") and not isinstance(value, torch.nn.Module) else {}


def _is_bad(tensor: torch.Tensor) -> bool:
    return tensor.dtype.is_floating_point and not bool(torch.isfinite(tensor.detach()).all())


def _may_run_again(statement: ast.stmt, variables: dict[str, object]) -> bool:
    loops = [node.iter for node in ast.walk(statement) if isinstance(node, (ast.For, ast.comprehension))]
    given = [_value(_dotted(node), variables) for loop in loops for node in ast.walk(loop)]
    if any(isinstance(value, torch.utils.data.DataLoader) or hasattr(type(value), "__next__") for value in given):
        return False  # would be a new epoch, or nothing at all
    calls = [node.func for node in ast.walk(statement) if isinstance(node, ast.Call)]
    names = [
        f.attr if isinstance(f, ast.Attribute) else f.id for f in calls if isinstance(f, (ast.Attribute, ast.Name))
    ]
    return not any(name in _NOT_AGAIN for name in names)


def _attribute(name: str, variables: dict[str, object]) -> tuple[Any, str, Any] | None:
    base, _, attribute = name.rpartition(".")
    if not base:
        return None
    owner, value = _value(base, variables), _value(name, variables)
    return (owner, attribute, value) if owner is not _MISSING and value is not _MISSING else None


def _runnable(statement: ast.stmt) -> ast.stmt:
    """`return loss.backward()` outside of a function is only the expression."""
    if isinstance(statement, ast.Return):
        return ast.copy_location(ast.Expr(statement.value or ast.Constant(None)), statement)
    return statement
