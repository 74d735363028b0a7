"""Find in a script's source the statements that some names depend on."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

Block = Sequence[ast.stmt]
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BINDING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def loads(node: ast.AST) -> set[str]:
    """Names that a piece of code reads."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def stores(statement: ast.stmt) -> set[str]:
    """Names that a statement binds in its own scope."""
    if isinstance(statement, _SCOPES):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
    found = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for inner in ast.walk(statement):
        if isinstance(inner, _BINDING) and inner is not statement:
            found |= stores(inner)
    return found


def needed(block: Block, names: Iterable[str], *, touching: bool = False) -> tuple[list[ast.stmt], set[str]]:
    """The statements of a block that these names depend on, in order; and the names that it leaves open.

    With `touching`, also statements that change the objects themselves: `model.apply(init)`, `model.head = …`.
    """
    block = list(block)
    wanted = set(names)
    chosen: set[int] = set()
    while True:
        before = len(chosen)
        for number, statement in enumerate(block):
            own = stores(statement) & wanted
            touched = touching and _touches(statement, wanted & _bound(block, chosen))
            if number not in chosen and (own or touched):
                chosen.add(number)
                wanted |= loads(statement)
        if len(chosen) == before:
            break
    statements = [block[number] for number in sorted(chosen)]
    bound = {name for statement in statements for name in stores(statement)}
    return statements, wanted - bound


def backward_slice(block: Block, expression: ast.expr) -> tuple[list[ast.stmt], set[str]]:
    """The last statements of a block that an expression behind it depends on, and the names that come from before."""
    wanted = loads(expression)
    chosen: list[ast.stmt] = []
    for statement in reversed(list(block)):
        own = stores(statement)
        if own & wanted:
            if not isinstance(statement, (ast.AugAssign, ast.If, ast.For, ast.While, ast.With, ast.Try)):
                wanted -= own
            wanted |= loads(statement) | (own if isinstance(statement, ast.AugAssign) else set())
            chosen.append(statement)
    return chosen[::-1], wanted


def scope_body(tree: ast.Module, function: str | None) -> list[ast.stmt]:
    """The statements of a function, or of the module; what stands below `if __name__ == "__main__"` belongs to it."""
    if function is None:
        return [part for s in tree.body for part in (s.body if isinstance(s, ast.If) and is_main(s) else [s])]
    found = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)) and n.name == function]
    return found[0].body if found else []


def arguments(tree: ast.Module, function: str) -> tuple[str | None, dict[str, ast.expr]]:
    """What the script gives to a function of its own, by parameter, and the function in which it calls it (None: the
    script itself). Defaults where it gives nothing; the first call counts."""
    scopes = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    own = next((scope for scope in scopes if scope.name == function), None)
    if own is None:
        return None, {}
    names = [argument.arg for argument in (*own.args.posonlyargs, *own.args.args)]
    given = dict(zip(names[::-1], own.args.defaults[::-1], strict=False))
    optional = zip(own.args.kwonlyargs, own.args.kw_defaults, strict=True)
    given |= {argument.arg: default for argument, default in optional if default is not None}
    for caller, body in ((None, scope_body(tree, None)), *((scope.name, scope.body) for scope in scopes)):
        for node in (n for s in body if caller or not isinstance(s, _SCOPES) for n in ast.walk(s)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function:
                plain = [value for value in node.args if not isinstance(value, ast.Starred)]
                named = {word.arg: word.value for word in node.keywords if word.arg is not None}
                return caller, given | dict(zip(names, plain, strict=False)) | named
    return None, given


def backwards(body: Block) -> list[tuple[list[ast.stmt], ast.expr, int]]:
    """Every `….backward()` in a scope: the statements before it in its block, the loss, and its line."""
    found: list[tuple[list[ast.stmt], ast.expr, int]] = []
    for block in _blocks(body):
        for number, statement in enumerate(block):
            loss = _loss_of(statement)
            if loss is not None:
                found.append((list(block[:number]), loss, statement.lineno))
    return sorted(found, key=lambda item: item[2])


def before_line(body: Block, line: int) -> list[ast.stmt]:
    """The statements of a scope that are over before this line is reached."""
    return [statement for statement in body if (statement.end_lineno or 0) < line]


def before_call(body: Block, words: str) -> list[ast.stmt]:
    """The statements of a scope before the first that calls this, `trainer.fit`; all of them where none does."""
    for number, statement in enumerate(body):
        inside = () if isinstance(statement, _SCOPES) else ast.walk(statement)
        if any(isinstance(node, ast.Call) and ast.unparse(node.func) == words for node in inside):
            return list(body[:number])
    return list(body)


def is_main(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and "__name__" in loads(statement.test)


def _blocks(body: Block) -> Iterable[Block]:
    yield body
    for statement in body:
        if isinstance(statement, _SCOPES):
            continue
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(statement, name, None)
            if inner:
                yield from _blocks(inner)


def _loss_of(statement: ast.stmt) -> ast.expr | None:
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "backward":
        return None
    receiver = call.func.value
    if isinstance(receiver, ast.Call) and isinstance(receiver.func, ast.Attribute) and receiver.func.attr == "scale":
        return receiver.args[0] if receiver.args else receiver  # scaler.scale(loss).backward()
    if call.args and isinstance(receiver, ast.Name) and receiver.id in ("accelerator", "fabric", "engine"):
        return call.args[0]
    return receiver


def _bound(block: Block, chosen: set[int]) -> set[str]:
    """Objects that may be changed: names bound by assignments, not imports or definitions."""
    plain = [block[n] for n in chosen if not isinstance(block[n], _BINDING)]
    return {name for statement in plain for name in stores(statement)}


def _touches(statement: ast.stmt, names: set[str]) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        called = _root(call.func)
        given = {root for argument in call.args if (root := _root(argument)) is not None}
        return called in names or (called in ("nn", "torch", "init") and bool(given & names)) or _seeds(call)
    if isinstance(statement, (ast.Assign, ast.AugAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return any(not isinstance(t, ast.Name) and _root(t) in names for t in targets)
    if isinstance(statement, ast.For) and loads(statement.iter) & names:
        inside = stores(statement)
        return all(_touches(inner, names | inside) for inner in statement.body)
    if isinstance(statement, ast.With):
        return all(_touches(inner, names) for inner in statement.body)
    if isinstance(statement, ast.If):
        return all(_touches(inner, names) for inner in (*statement.body, *statement.orelse))
    return False


def _seeds(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "manual_seed"


def _root(node: ast.AST) -> str | None:
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None
