"""Shapes that are declared elsewhere than in jaxtyping's annotations, compared with what calls really get and give.

Read are `@paramedic.shapes("B T -> B C")` on any function; torchtyping's `TensorType["batch", 80]` in forward(); and
comments in the user's source behind a parameter of forward(), behind its only return, and behind the call of a module:
`x = self.conv(x)  # (batch, 16, height, width)`.
"""

from __future__ import annotations

import ast
import inspect
import io
import re
import textwrap
import tokenize
from collections.abc import Callable
from typing import Any

from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.facts import tensors_in
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.capture.where import is_users, shown_path, source_at, user_site
from paramedic.record import facts
from paramedic.record.writer import Site
from paramedic.shapes.contract import Contract, fit
from paramedic.shapes.declared import listen

COMMENT = re.compile(r"#\s*\(((?:[A-Za-z_]\w*|\d+)(?:\s*,\s*(?:[A-Za-z_]\w*|\d+))+|[A-Za-z_]\w*\s*,)\s*\)\s*$")
TORCHTYPING = re.compile(r"TensorType\[([^\]]*)\]")
MOST_CLASSES = 200
Dims = list[str]


@probe("declared_shapes", states=[facts.Contract])
class DeclaredShapes:
    """Looks at every call of a decorated function, and at examined calls of modules."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._forwards: dict[type, dict[str, tuple[str, Dims]]] = {}
        self._files: dict[str, dict[int, Dims]] = {}
        self._stop: Callable[[], None] = lambda: None

    def install(self) -> None:
        self._stop = listen(self._decorated)

    def _decorated(self, function: Any, contract: Contract, args: Any, kwargs: Any, output: Any) -> None:
        if self.watcher.closed:
            self._stop()
            return
        self.watcher.ask("declared_shapes", self._check, function, contract, args, kwargs, output)

    def _check(self, function: Any, contract: Contract, args: Any, kwargs: Any, output: Any) -> None:
        given = [tuple(tensor.shape) for _, tensor in tensors_in((args, kwargs))]
        broken = contract.broken(given, [tuple(tensor.shape) for _, tensor in tensors_in(output)])
        if broken is not None:
            name = "return" if broken.place.startswith("output") else broken.place
            code = function.__code__
            data = {
                "function": function.__qualname__,
                "forward": Site(shown_path(code.co_filename), code.co_firstlineno),
            }
            self._tell(user_site(), None, name, "contract", broken.dims, broken.shape, broken.words, data)

    @on(moments.module_called)
    def called(self, call: Call, args: Any, kwargs: Any, output: Any) -> None:
        kind = type(call.module)
        if kind not in self._forwards and len(self._forwards) < MOST_CLASSES:
            self._forwards[kind] = forward_shapes(kind)
        sizes: dict[str, int] = {}
        declared = self._forwards.get(kind, {})
        given = {**_bound(kind, call.module, args, kwargs), "return": output} if declared else {}
        for name, (how, dims) in declared.items():
            tensor: Any = given.get(name)
            words = fit(dims, tuple(tensor.shape), sizes) if hasattr(tensor, "shape") else ""
            if words:
                code = kind.forward.__code__
                data = {"class_": kind.__name__, "forward": Site(shown_path(code.co_filename), code.co_firstlineno)}
                self._tell(call.site, call.path, name, how, dims, tuple(tensor.shape), words, data)
                return
        self._check_line(call, output)

    def _check_line(self, call: Call, output: Any) -> None:
        """The comment behind the line that calls a module, where its output is all that the line assigns."""
        file = call.site.file or ""
        if file not in self._files:
            self._files[file] = line_shapes(source_at(call.site))
        dims = self._files[file].get(call.site.line or 0)
        if dims is None or not hasattr(output, "shape"):
            return
        words = fit(dims, tuple(output.shape), {})
        if words:
            data = {"function": f"{file}:{call.site.line}", "forward": Site(file, call.site.line)}
            self._tell(call.site, call.path, "return", "comment", dims, tuple(output.shape), words, data)

    def _tell(
        self,
        site: Site,
        module: str | None,
        name: str,
        how: str,
        dims: Dims,
        shape: Any,
        words: str,
        data: dict[str, Any],
    ) -> None:
        found = facts.Contract(name=name, how=how, declared=dims, got=list(shape), broken=words, **data)
        self.watcher.state(found, site=site, module=module, key=(data.get("function"), name, words))


def forward_shapes(kind: type) -> dict[str, tuple[str, Dims]]:
    """Of forward()'s parameters and of what it returns, from torchtyping and from comments."""
    forward = inspect.unwrap(getattr(kind, "forward", None) or kind)
    code = getattr(forward, "__code__", None)
    if code is None or not is_users(code.co_filename):
        return {}
    try:
        text = textwrap.dedent(inspect.getsource(forward))
        tree = ast.parse(text).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return {}
    assert isinstance(tree, ast.FunctionDef)
    found: dict[str, tuple[str, Dims]] = {}
    behind = comments_of(text)
    arguments = [*tree.args.args, *tree.args.kwonlyargs]
    for argument in arguments:
        alone = sum(other.lineno == argument.lineno for other in arguments) == 1
        if alone and argument.lineno in behind:
            found[argument.arg] = ("comment", behind[argument.lineno])
        if argument.annotation is not None and (dims := _torchtyping(ast.unparse(argument.annotation))):
            found[argument.arg] = ("annotation", dims)
    returns = [node for node in ast.walk(tree) if isinstance(node, ast.Return)]
    if len(returns) == 1 and (returns[0].end_lineno or 0) in behind:
        found["return"] = ("comment", behind[returns[0].end_lineno or 0])
    if tree.returns is not None and (dims := _torchtyping(ast.unparse(tree.returns))):
        found["return"] = ("annotation", dims)
    return found


def line_shapes(source: str) -> dict[int, Dims]:
    """Lines `name = self.module(…)` with a shape behind them."""
    behind = comments_of(source)
    found: dict[int, Dims] = {}
    for node in ast.walk(ast.parse(source)) if behind else ():
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and node.lineno == node.end_lineno:
            called, target = node.value.func, node.targets[0]
            is_module = isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name)
            inner = [n for n in ast.walk(node.value) if isinstance(n, ast.Call) and n is not node.value]
            if node.lineno in behind and isinstance(target, ast.Name) and is_module and not inner:
                found[node.lineno] = behind[node.lineno]
    return found


def comments_of(source: str) -> dict[int, Dims]:
    """The dimensions in shape comments, by line. Words that are no shape have blanks between them, or stand alone."""
    found: dict[int, Dims] = {}
    if "#" not in source:
        return found
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            match = COMMENT.search(token.string) if token.type == tokenize.COMMENT else None
            if match is not None:
                found[token.start[0]] = [dim.strip() for dim in match[1].split(",") if dim.strip()]
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return {}
    return found


def _torchtyping(annotation: str) -> Dims:
    match = TORCHTYPING.search(annotation)
    words = [word.strip().strip("'\"") for word in match[1].split(",")] if match else []
    return [word.split(":")[0].strip() for word in words if word and not word.startswith(("torch.", "float", "int"))]


def _bound(kind: Any, module: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    try:
        return dict(inspect.signature(kind.forward).bind(module, *args, **kwargs).arguments)
    except TypeError:
        return {}
