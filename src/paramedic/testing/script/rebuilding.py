"""Execute those statements of a script that its model, optimizer and loss need, and no others."""

from __future__ import annotations

import ast
import builtins
import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from paramedic.errors import ParamedicError
from paramedic.testing.script.slicing import (
    arguments,
    backward_slice,
    backwards,
    before_call,
    before_line,
    is_main,
    loads,
    needed,
    scope_body,
)

DEFINITIONS = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
Origin = tuple[str | None, str]  # the function (None: the script itself) and the name under which it has an object


class Source:
    """The script as it is now."""

    def __init__(self, path: Path, argv: Sequence[str] = (), until: Mapping[str, str] | None = None) -> None:
        """`until` are calls, by function ("" is the script itself), behind which nothing is to be executed."""
        self.path, self.argv, self.until = path, list(argv), dict(until or {})
        try:
            self.tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        except (OSError, SyntaxError) as error:
            raise ParamedicError(f"cannot read {path}: {error}", expected="the training script") from None

    def build(self, origins: dict[str, Origin], also: set[str]) -> dict[str, Any]:
        """A namespace with these objects, made by the script's own statements, and with the names they need."""
        found: dict[str, object] = {}
        for function in dict.fromkeys(origin[0] for origin in origins.values()):
            wanted = {name: own for name, (place, own) in origins.items() if place == function}
            names = self._execute(function, set(wanted.values()) | (also if function is None else set()))
            found |= names
            missing = [own for own in wanted.values() if own not in names]
            if missing:
                raise self._lost(", ".join(missing))
            found |= {name: names[own] for name, own in wanted.items()}
        rest = {name for name in also if name not in found}
        return {**self._execute(None, rest), **found} if rest else found

    def step(self, function: str | None, number: int, modules: set[str]) -> tuple[Any, ast.expr, set[str], list[int]]:
        """The code from the first use of a model to the loss, the loss itself, the names it needs, and its lines."""
        found = backwards(scope_body(self.tree, function))
        if not found:
            raise self._lost("backward()")
        block, loss, line = found[min(number, len(found) - 1)]
        chosen, _ = backward_slice(block, loss)
        users = modules | self._functions_using(modules)
        first = next((n for n, statement in enumerate(chosen) if loads(statement) & users), len(chosen))
        code = chosen[first:]
        free = _free([*code, ast.Expr(value=loss)])
        lines = [code[0].lineno if code else line, line]
        return compile(ast.Module(body=code, type_ignores=[]), str(self.path), "exec"), loss, free, lines

    def number_of(self, function: str | None, line: int) -> int:
        """Which of the backward() calls of a scope this line is."""
        found = backwards(scope_body(self.tree, function))
        spans = [n for n, (_, _, start) in enumerate(found) if start <= line]
        return spans[-1] if spans else 0

    def _execute(self, function: str | None, names: set[str], calls: tuple[str, ...] = ()) -> dict[str, object]:
        body = scope_body(self.tree, function)
        steps = backwards(body)
        body = before_call(body, self.until[function or ""]) if (function or "") in self.until else body
        before = [s for s in (before_line(body, steps[0][2]) if steps else body) if not _is_training(s)]
        if function is None:  # definitions may stand anywhere
            before += [s for s in self.tree.body if isinstance(s, DEFINITIONS) and s not in before]
        own, open_names = needed(before, names, touching=True)
        top = [s for s in self.tree.body if not _is_training(s) and not is_main(s)]
        outer, _ = needed(top, open_names, touching=True) if function is not None else ([], set())
        module = ModuleType(self.path.stem)
        module.__dict__.update(__file__=str(self.path), __builtins__=builtins, __name__=_safe_name(self.path))
        module.__dict__.update(self._given(function, open_names, calls))
        with self._surroundings(module):
            for part in (outer, own):
                exec(compile(ast.Module(body=part, type_ignores=[]), str(self.path), "exec"), module.__dict__)
        return {key: value for key, value in vars(module).items() if not key.startswith("__")}

    def _given(self, function: str | None, names: set[str], calls: tuple[str, ...]) -> dict[str, object]:
        """Parameters of a function, with the values that the script gives it: `fit(parser.parse_args())`."""
        if function is None or function in calls:
            return {}
        caller, given = arguments(self.tree, function)
        wanted = {name: value for name, value in given.items() if name in names}
        if not wanted:
            return {}
        around = self._execute(caller, set().union(*map(loads, wanted.values())), (*calls, function))
        found = {}
        with self._surroundings(ModuleType(_safe_name(self.path))):
            for name, value in wanted.items():
                found[name] = eval(compile(ast.Expression(body=value), str(self.path), "eval"), dict(around))
        return found

    def _functions_using(self, modules: set[str]) -> set[str]:
        """Functions of the script that call a model which is not among their arguments."""
        found = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef):
                own = {argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)}
                if (loads(node) - own) & modules:
                    found.add(node.name)
        return found

    @contextlib.contextmanager
    def _surroundings(self, module: ModuleType) -> Iterator[None]:
        """As in a run of the script: its arguments, its neighbours, its module."""
        argv, path = sys.argv, list(sys.path)
        sys.argv = [str(self.path), *self.argv]
        sys.path.insert(0, os.path.dirname(str(self.path)))
        sys.modules[module.__name__] = module  # dataclasses and pickles look it up
        try:
            yield
        finally:
            sys.argv, sys.path[:] = argv, path

    def _lost(self, what: str) -> ParamedicError:
        return ParamedicError(
            f"{what} is no longer where it was in {self.path.name}",
            expected="the script that the test was written for",
            fix=f"paramedic test {self.path.name}",
        )


def _safe_name(path: Path) -> str:
    """Not __main__, so that what stands below `if __name__ == "__main__"` stays undone."""
    return f"paramedic_test_of_{path.stem}"


def _is_training(statement: ast.stmt) -> bool:
    """Loops with a backward pass in them."""
    return isinstance(statement, (ast.For, ast.While, ast.With)) and any(
        isinstance(n, ast.Attribute) and n.attr == "backward" for n in ast.walk(statement)
    )


def _free(code: Sequence[ast.stmt]) -> set[str]:
    """Names that must be there before the code runs."""
    from paramedic.testing.script.slicing import stores

    free: set[str] = set()
    bound: set[str] = set()
    for statement in code:
        own = stores(statement)
        inner = own if isinstance(statement, (ast.For, ast.With, ast.If)) or _has_comprehension(statement) else set()
        free |= loads(statement) - bound - inner - set(dir(builtins))
        bound |= own
    return free


def _has_comprehension(statement: ast.stmt) -> bool:
    kinds = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    return any(isinstance(node, kinds) for node in ast.walk(statement)) and not isinstance(statement, ast.AugAssign)
