"""The user's own files as syntax trees: who defines a name, and which function a line is in."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from weakref import WeakKeyDictionary

from paramedic.findings import Where
from paramedic.record.reader import Run

Function = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)  # whose insides are their own


@dataclass(frozen=True, slots=True)
class Scope:
    """A function of one file, with its class if it is a method; without a function the file itself."""

    file: str
    tree: ast.Module
    function: Function | None = None
    owner: ast.ClassDef | None = None

    @property
    def body(self) -> ast.AST:
        return self.function or self.tree

    @property
    def name(self) -> str:
        return self.function.name if self.function else "<module>"

    def where(self, line: int) -> Where:
        return Where(file=self.file, line=line, function=self.name)


class Program:
    """Files that do not parse are left out."""

    def __init__(self, code: Mapping[str, str]) -> None:
        self.trees = {file: tree for file, text in code.items() if (tree := _parsed(text)) is not None}
        self.functions: dict[str, list[Scope]] = {}  # by name, wherever they are defined
        self.classes: dict[str, list[Scope]] = {}  # by name; `owner` is the class
        for file, tree in self.trees.items():
            self._index(Scope(file, tree), tree, None)

    def scope(self, file: str | None, line: int | None) -> Scope | None:
        """The innermost function around a line."""
        tree = self.trees.get(file or "")
        if file is None or tree is None or line is None:
            return None
        around = [s for found in self.functions.values() for s in found if s.file == file and _spans(s.function, line)]
        return max(around, key=lambda scope: scope.body.lineno, default=Scope(file, tree))  # type: ignore[attr-defined]

    def scopes(self) -> list[Scope]:
        """All files and functions."""
        files = [Scope(file, tree) for file, tree in self.trees.items()]
        return [*files, *(scope for found in self.functions.values() for scope in found)]

    def around(self, scope: Scope) -> Scope:
        """The function that a function is defined in, or the file."""
        inside = [s for found in self.functions.values() for s in found if s.file == scope.file and s != scope]
        holding = [s for s in inside if any(node is scope.function for node in ast.walk(s.body))]
        return max(holding, key=lambda s: s.body.lineno, default=Scope(scope.file, scope.tree))  # type: ignore[attr-defined]

    def methods(self, name: str, method: str) -> list[Scope]:
        """A method of the classes of this name, their own or that of a base class among the user's."""
        found = []
        for scope in self.classes.get(name, []):
            assert scope.owner is not None
            own = [s for s in self.functions.get(method, []) if s.owner is scope.owner]
            bases = [base.id for base in scope.owner.bases if isinstance(base, ast.Name) and base.id != name]
            found += own or [inherited for base in bases for inherited in self.methods(base, method)]
        return found

    def instances(self, name: str) -> set[str]:
        """The variables and attributes that are given an object of this class."""
        found = set()
        for tree in self.trees.values():
            for node in ast.walk(tree):
                if isinstance(node, ast.Assign):
                    found |= {_last(target) for target, value in _pairs(node) if name in _made(value)}
        return found - {""}

    def _index(self, scope: Scope, node: ast.AST, owner: ast.ClassDef | None) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                self.classes.setdefault(child.name, []).append(Scope(scope.file, scope.tree, None, child))
                self._index(scope, child, child)
            elif isinstance(child, Function):
                inner = Scope(scope.file, scope.tree, child, owner)
                self.functions.setdefault(child.name, []).append(inner)
                self._index(inner, child, owner)  # a function within a method knows its self
            else:
                self._index(scope, child, owner)


def program(run: Run) -> Program:
    """What a run was made of; read once, though several rules ask."""
    known = _programs.get(run)
    if known is None:
        known = _programs[run] = Program(run.meta.get("code", {}))
    return known


_programs: WeakKeyDictionary[Run, Program] = WeakKeyDictionary()


@lru_cache(maxsize=256)
def own_nodes(scope: ast.AST) -> tuple[ast.AST, ...]:
    """The nodes of a function or file itself, in the order of the source, without the functions and classes inside."""
    return tuple(_own_nodes(scope))


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(scope):
        yield child
        if not isinstance(child, _SCOPES):
            yield from _own_nodes(child)


def statement_at(scope: Scope, line: int) -> ast.stmt | None:
    """The innermost statement on a line; of a compound one, its head."""
    found = [node for node in own_nodes(scope.body) if isinstance(node, ast.stmt) and _spans(node, line)]
    return found[-1] if found else None


def calls_at(scope: Scope, line: int) -> list[ast.Call]:
    """The calls on a line, or in a statement that spans it, outermost first."""
    return [node for node in own_nodes(scope.body) if isinstance(node, ast.Call) and _spans(node, line)]


def arguments_at(
    code: Program, where: Where, names: Collection[str], position: int, keyword: str = ""
) -> list[ast.expr]:
    """An argument, by its place or its name, of the calls of these functions on a line."""
    scope = code.scope(where.file, where.line)
    calls = calls_at(scope, where.line) if scope is not None and where.line is not None else []
    found = []
    for call in calls:
        if called(call) in names:
            named = [argument.value for argument in call.keywords if argument.arg == keyword]
            found += named or call.args[position : position + 1]
    return found


def called(call: ast.Call) -> str:
    """`F.cross_entropy` is "cross_entropy"."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _spans(node: ast.AST | None, line: int) -> bool:
    return node is not None and node.lineno <= line <= (node.end_lineno or node.lineno)  # type: ignore[attr-defined]


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _pairs(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """`a, b = A(), B()` sets a and b apart."""
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from zip(target.elts, node.value.elts, strict=False)
        else:
            yield target, node.value


def _made(value: ast.expr) -> set[str]:
    """The functions and classes that are called to make a value."""
    return {called(node) for node in ast.walk(value) if isinstance(node, ast.Call)}


def _last(target: ast.expr) -> str:
    return target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
