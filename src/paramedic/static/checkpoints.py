"""Conditions on a file, and what they are for: is it a checkpoint that is loaded, does the script itself write it?"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from paramedic.findings import Where
from paramedic.static.program import Program, Scope, called, calls_at, own_nodes

ASKS = ("exists", "isfile", "isdir", "is_file", "is_dir")
LOADS = ("load_state_dict", "load_from_checkpoint", "from_pretrained")
DEPTH = 3  # functions that call functions


def loads_what_was_asked_for(program: Program, where: Where) -> bool:
    """Whether weights would have been loaded, had the file been there that this line asks for."""
    scope = program.scope(where.file, where.line)
    if scope is None or where.line is None:
        return False
    branch = _branch(scope, where.line)
    if branch is None:
        return False
    if _negated(branch.test):
        leaves = isinstance(branch.body[-1], ast.Return | ast.Continue | ast.Raise)
        taken = [*branch.orelse, *(_behind(scope, branch) if leaves else ())]
    else:
        taken = branch.body
    return any(_loads(program, statement) for statement in taken)


def is_written(program: Program, where: Where) -> bool:
    """Whether the script saves to the path that this line asks for: then there is nothing to load the first time."""
    scope = program.scope(where.file, where.line)
    calls = calls_at(scope, where.line) if scope is not None and where.line is not None else []
    asked = {ast.unparse(path) for call in calls if (path := _path(call)) is not None}
    return any(
        "save" in called(call) and asked & {ast.unparse(node) for node in ast.walk(call) if isinstance(node, ast.expr)}
        for scope in program.scopes()
        for call in own_nodes(scope.body)
        if isinstance(call, ast.Call)
    )


def _path(call: ast.Call) -> ast.expr | None:
    if called(call) not in ASKS:
        return None
    if call.args:
        return call.args[0]
    return call.func.value if isinstance(call.func, ast.Attribute) else None


def _branch(scope: Scope, line: int) -> ast.If | None:
    """The condition that asks; or the one that reads what this line has found out."""
    found = [node for node in own_nodes(scope.body) if isinstance(node, ast.If)]
    asking = [node for node in found if node.test.lineno <= line <= (node.test.end_lineno or line)]
    if asking:
        return asking[-1]
    names = {
        target.id for node in own_nodes(scope.body) if isinstance(node, ast.Assign) and node.lineno == line
        for target in node.targets if isinstance(target, ast.Name)
    }  # fmt: skip
    reading = [node for node in found if any(isinstance(n, ast.Name) and n.id in names for n in ast.walk(node.test))]
    return reading[0] if reading else None


def _negated(test: ast.expr) -> bool:
    return any(isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) for node in ast.walk(test))


def _behind(scope: Scope, branch: ast.If) -> Iterator[ast.stmt]:
    """What comes after a branch that leaves."""
    statements: Iterable[ast.AST] = own_nodes(scope.body)
    return (node for node in statements if isinstance(node, ast.stmt) and node.lineno > (branch.end_lineno or 0))


def _loads(program: Program, node: ast.AST, depth: int = DEPTH) -> bool:
    calls = [inner for inner in ast.walk(node) if isinstance(inner, ast.Call)]
    if any(called(call) in LOADS or ast.unparse(call.func) == "torch.load" for call in calls):
        return True
    functions = [scope.body for call in calls for scope in program.functions.get(called(call), ())]
    return depth > 0 and any(_loads(program, body, depth - 1) for body in functions)
