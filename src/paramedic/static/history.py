"""From a value back to the statements that made it: through assignments, functions, loaders and datasets."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from paramedic.findings import Where
from paramedic.static.definitions import Definition, Path, definitions
from paramedic.static.libraries import passed_on
from paramedic.static.program import Function, Program, Scope, called, own_nodes

MOST = 80  # links; a longer history names everything, and so nothing
MOST_VALUES = 400  # that are followed: `a, b = prepare(a, b)` leads back to itself, with one index more each time


@dataclass(frozen=True, slots=True)
class Frame:
    """A scope as one call entered it: what its parameters stand for, if that is known."""

    scope: Scope
    arguments: dict[str, Value] = field(default_factory=dict)
    calls: tuple[tuple[int, int], ...] = ()  # line and column of the calls that led here, the outermost first
    counters: dict[str, Value] = field(default_factory=dict)  # variables of the comprehension that is being read


@dataclass(frozen=True, slots=True)
class Value:
    """A part of what an expression gives, in the frame that evaluates it."""

    node: ast.expr
    path: Path
    frame: Frame


@dataclass(frozen=True, slots=True)
class Link:
    """A statement that made the value, or a part of it."""

    line: int
    node: ast.expr  # what is assigned or returned there
    scope: Scope
    kind: str  # "assigned", "returned", "called", or "given" as an argument
    calls: tuple[tuple[int, int], ...] = ()  # those that led into its function: which of several runs of it is meant
    user: Link | None = field(default=None, compare=False)  # the statement that reads this one's value

    @property
    def where(self) -> Where:
        return self.scope.where(self.line)


def history(program: Program, scope: Scope, node: ast.expr, path: Path = ()) -> list[Link]:
    """The statements that the value of an expression in this scope comes from, nearest first."""
    links: list[Link] = []
    walk = _Walk(program)
    waiting: deque[tuple[Value, Link | None]] = deque([(Value(node, path, Frame(scope)), None)])
    seen: set[tuple[int, Path, Scope]] = set()
    while waiting and len(links) < MOST and len(seen) < MOST_VALUES:
        value, user = waiting.popleft()
        key = (id(value.node), value.path, value.frame.scope)
        if key in seen:
            continue
        seen.add(key)
        for found, made_of in walk.back(value):
            link = replace(found, user=user) if found is not None else None
            if link is not None and link not in links:
                links.append(link)
            waiting.append((made_of, link or user))
    return links


def entered_by(program: Program, scope: Scope, call: ast.Call) -> list[Scope]:
    """The user's functions that a call in this scope may run; of a module, its forward()."""
    return _Walk(program).entered(call, Frame(scope))


def bound(scope: Scope, call: ast.Call) -> dict[str, ast.expr]:
    """What a call gives to the parameters of the function, by their names."""
    return {name: value.node for name, value in _bound(scope, call, Frame(scope)).items()}


class _Walk:
    """One step back at a time."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def back(self, value: Value) -> Iterator[tuple[Link | None, Value]]:
        node, path, frame = value.node, value.path, value.frame
        if isinstance(node, ast.Name):
            yield from self._variable(node.id, node.lineno, path, frame)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            yield from self._attribute(node.attr, node.lineno, path, frame)
        elif isinstance(node, ast.Call):
            yield from self._call(node, path, frame)
        elif isinstance(node, ast.Tuple | ast.List) and path and isinstance(path[0], int):
            if path[0] < len(node.elts):
                yield None, Value(node.elts[path[0]], path[1:], frame)
        elif isinstance(node, ast.Dict):
            for key, item in zip(node.keys, node.values, strict=True):
                if not path or (isinstance(key, ast.Constant) and key.value == path[0]):
                    yield None, Value(item, path[1:], frame)
        elif isinstance(node, ast.Subscript):
            key = node.slice
            part = (key.value,) if isinstance(key, ast.Constant) and isinstance(key.value, int | str) else ()
            yield None, Value(node.value, (*part, *path), frame)
        elif isinstance(node, ast.IfExp):
            yield None, Value(node.body, path, frame)
            yield None, Value(node.orelse, path, frame)
        elif isinstance(node, ast.ListComp | ast.GeneratorExp):
            yield None, _element(node, path, frame)
        elif isinstance(node, ast.Lambda):
            yield None, Value(node.body, path, frame)
        elif isinstance(node, ast.Attribute | ast.Starred | ast.Await):
            yield None, Value(node.value, path, frame)
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    yield None, Value(child, (), frame)

    def _variable(self, name: str, line: int, path: Path, frame: Frame) -> Iterator[tuple[Link | None, Value]]:
        if name in frame.counters:
            counter = frame.counters[name]
            yield None, Value(counter.node, (*counter.path, *path), counter.frame)
            return
        scope = frame.scope
        made = definitions(scope.body, name, line)
        for definition in made:
            yield _assigned(definition, path, frame)
        if any(definition.whole for definition in made[-1:]):
            return
        if scope.function is not None and name in _parameters(scope.function):
            yield from self._parameter(name, path, frame)
        elif not made:
            outer = Frame(self._program.around(scope))
            for definition in definitions(outer.scope.body, name, None) if outer.scope != scope else []:
                yield _assigned(definition, path, outer)
            for function in self._program.functions.get(name, []):  # handed over, to be called elsewhere
                yield from _returned(function, path, Frame(function))

    def _attribute(self, name: str, line: int, path: Path, frame: Frame) -> Iterator[tuple[Link | None, Value]]:
        """`self.name`: set in this method before, or in any method of the class."""
        for definition in definitions(frame.scope.body, f"self.{name}", line):
            if definition.line < line:
                yield _assigned(definition, path, frame)
                return
        methods = [s for found in self._program.functions.values() for s in found if s.owner is frame.scope.owner]
        for scope in methods if frame.scope.owner is not None else []:
            for definition in definitions(scope.body, f"self.{name}", None):
                yield _assigned(definition, path, Frame(scope))

    def _parameter(self, name: str, path: Path, frame: Frame) -> Iterator[tuple[Link | None, Value]]:
        if name in frame.arguments:
            given = frame.arguments[name]
            yield None, Value(given.node, (*path, *given.path), given.frame)
            return
        if frame.arguments:
            return  # this call leaves it at its default
        assert frame.scope.function is not None
        for caller, call in self._calls_of(frame.scope):
            argument = _bound(frame.scope, call, Frame(caller)).get(name)
            if argument is not None:
                yield Link(call.lineno, argument.node, caller, "given"), Value(argument.node, path, argument.frame)

    def _calls_of(self, scope: Scope) -> Iterator[tuple[Scope, ast.Call]]:
        assert scope.function is not None
        names = {scope.function.name}
        if scope.owner is not None and scope.function.name == "__init__":
            names = {scope.owner.name}
        elif scope.owner is not None and scope.function.name in ("forward", "__call__"):
            names = self._program.instances(scope.owner.name)
        for caller in self._program.scopes():
            for node in own_nodes(caller.body):
                if isinstance(node, ast.Call) and called(node) in names:
                    yield caller, node

    def _call(self, call: ast.Call, path: Path, frame: Frame) -> Iterator[tuple[Link | None, Value]]:
        entered = self.entered(call, frame)
        for scope in entered:
            calls = (*frame.calls, (call.lineno, call.col_offset))
            yield from _returned(scope, path, Frame(scope, _bound(scope, call, frame), calls))
        if entered:
            return
        handed = passed_on(call, path)
        if handed is not None:
            for argument, part in handed:
                yield None, Value(argument, part, frame)
        elif isinstance(call.func, ast.Attribute) and not _is_module(call.func.value, frame.scope):
            owner = call.func.value
            kept = isinstance(owner, ast.Name) and owner.id == "self"  # self.transform(x): a function in an attribute
            yield None, Value(call.func if kept else owner, () if kept else path, frame)
            for argument in call.args:
                yield None, Value(argument, (), frame)
        else:
            for argument in [*call.args, *(keyword.value for keyword in call.keywords)]:
                yield None, Value(argument, (), frame)
            if isinstance(call.func, ast.Name):
                yield None, Value(call.func, (), frame)

    def entered(self, call: ast.Call, frame: Frame) -> list[Scope]:
        """The user's functions that a call may run; of a class, those that give the samples of a dataset."""
        name = called(call)
        if name in self._program.classes:
            samples = ("__getitem__", "__iter__")
            read = [scope for method in samples for scope in self._program.methods(name, method)]
            return read or self._program.methods(name, "__call__")  # a transform, handed over to be called
        method = isinstance(call.func, ast.Attribute) and not _is_module(call.func.value, frame.scope)
        known = [s for s in self._program.functions.get(name, []) if (s.owner is not None) == method]
        return known or self._held(Value(call.func, (), frame))

    def _held(self, function: Value) -> list[Scope]:
        """`net(x)`, where `net = Net()`; `self.transform(x)`, where that was given to __init__."""
        waiting = deque([function])
        for _ in range(12):
            if not waiting:
                break
            value = waiting.popleft()
            if isinstance(value.node, ast.Call):
                name = called(value.node)
                run = self._program.methods(name, "forward") or self._program.methods(name, "__call__")
                if run:
                    return run
            elif isinstance(value.node, ast.Name) and value.node.id in self._program.functions:
                return [s for s in self._program.functions[value.node.id] if s.owner is None]
            elif isinstance(value.node, ast.Name | ast.Attribute):
                waiting.extend(made_of for _, made_of in self.back(value))
        return []


def _element(node: ast.ListComp | ast.GeneratorExp, path: Path, frame: Frame) -> Value:
    """One element; of `(f(v) for v in (a, b))` the second is made of b."""
    source, target = node.generators[0].iter, node.generators[0].target
    counters = dict(frame.counters)
    if isinstance(source, ast.Tuple | ast.List) and isinstance(target, ast.Name) and path and isinstance(path[0], int):
        counters[target.id] = Value(source, path[:1], frame)
        return Value(node.elt, path[1:], replace(frame, counters=counters))
    for generator in node.generators:
        parts = generator.target.elts if isinstance(generator.target, ast.Tuple) else []
        for index, part in enumerate(parts):
            counters[ast.unparse(part)] = Value(generator.iter, (index,), frame)
        if not parts:
            counters[ast.unparse(generator.target)] = Value(generator.iter, (), frame)
    return Value(node.elt, path, replace(frame, counters=counters))


def _assigned(definition: Definition, path: Path, frame: Frame) -> tuple[Link, Value]:
    link = Link(definition.line, definition.value, frame.scope, "assigned", frame.calls)
    return link, Value(definition.value, (*definition.path, *path), frame)


def _returned(scope: Scope, path: Path, frame: Frame) -> Iterator[tuple[Link, Value]]:
    for node in own_nodes(scope.body):
        if isinstance(node, ast.Return | ast.Yield) and node.value is not None:
            yield Link(node.lineno, node.value, scope, "returned", frame.calls), Value(node.value, path, frame)


def _parameters(function: Function) -> list[str]:
    given = function.args
    return [argument.arg for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _bound(scope: Scope, call: ast.Call, frame: Frame) -> dict[str, Value]:
    """What a call gives to the parameters of the function."""
    assert scope.function is not None
    names = _parameters(scope.function)
    if scope.owner is not None and names[:1] in (["self"], ["cls"]):
        names = names[1:]
    if scope.function.name in ("__getitem__", "__iter__"):
        return {}  # the call made the dataset; what it is asked for comes from the loader
    bound = {
        name: Value(argument, (), frame)
        for name, argument in zip(names, call.args, strict=False)
        if not isinstance(argument, ast.Starred)
    }
    bound |= {keyword.arg: Value(keyword.value, (), frame) for keyword in call.keywords if keyword.arg in names}
    return bound


def _is_module(node: ast.expr, scope: Scope) -> bool:
    """`torch.stack`, `np.random.rand`: a name that an import made."""
    while isinstance(node, ast.Attribute):
        node = node.value
    if not isinstance(node, ast.Name):
        return False
    imports = [n for n in ast.walk(scope.tree) if isinstance(n, ast.Import | ast.ImportFrom)]
    return any((alias.asname or alias.name.partition(".")[0]) == node.id for n in imports for alias in n.names)
