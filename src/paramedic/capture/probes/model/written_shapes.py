"""Shapes that the user's source declares: in annotations, in docstrings and in comments.

Nothing is imported or evaluated for it: annotations are read as text, and names in them are looked up.
"""

from __future__ import annotations

import ast
import inspect
import io
import re
import textwrap
import tokenize
from collections.abc import Iterator, Mapping

from paramedic.capture import tensor_type
from paramedic.program.where import is_users

COMMENT = re.compile(r"#\s*\(((?:[A-Za-z_]\w*|\d+)(?:\s*,\s*(?:[A-Za-z_]\w*|\d+))+|[A-Za-z_]\w*\s*,)\s*\)\s*$")
DOCUMENTED = re.compile(r"^\s*(\w+)\s*:\s*(?:[\w. ]*\bshape\s*)?[(\[]([\w*. ]+(?:,[\w*. ]*)+)[)\]]", re.MULTILINE)
JAXTYPING = re.compile(r"(?:Shaped|Num|Inexact|Real|Complex|Bool|Key|Integer|B?[Ff]loat|Float|U?Int)\d*\w*$")
Dims = list[str]
Declared = dict[str, tuple[str, Dims]]  # by argument, or "return": how it is written, and the dimensions


def forward_shapes(kind: type) -> Declared:
    """Of forward()'s parameters and of what it returns. An annotation counts for more than a comment."""
    forward = inspect.unwrap(getattr(kind, "forward", None) or kind)
    code = getattr(forward, "__code__", None)
    if code is None or not is_users(code.co_filename):
        return {}
    try:
        text = textwrap.dedent(inspect.getsource(forward))
        tree = ast.parse(text).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return {}
    if not isinstance(tree, ast.FunctionDef):
        return {}
    names = getattr(forward, "__globals__", {})
    arguments = (*tree.args.args, *tree.args.kwonlyargs)
    annotated = [(a.arg, dims) for a in arguments if (dims := _annotated(a.annotation, names)) is not None]
    found: Declared = {name: ("annotation", dims) for name, dims in (*annotated, *_returned(tree.returns, names))}
    for name, dims in _commented(tree, text):
        found.setdefault(name, ("comment", dims))
    for name, words in DOCUMENTED.findall(inspect.getdoc(forward) or ""):
        found.setdefault(_argument(name), ("docstring", _split(words, ",")))
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
                found[token.start[0]] = _split(match[1], ",")
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return {}
    return found


def _commented(tree: ast.FunctionDef, text: str) -> Iterator[tuple[str, Dims]]:
    """Behind a parameter that has its line to itself, and behind the only return."""
    behind = comments_of(text)
    arguments = [*tree.args.args, *tree.args.kwonlyargs]
    for argument in arguments:
        alone = sum(other.lineno == argument.lineno for other in arguments) == 1
        if alone and argument.lineno in behind:
            yield argument.arg, behind[argument.lineno]
    returns = [node for node in ast.walk(tree) if isinstance(node, ast.Return)]
    if len(returns) == 1 and (returns[0].end_lineno or 0) in behind:
        yield "return", behind[returns[0].end_lineno or 0]


def _returned(node: ast.expr | None, names: Mapping[str, object]) -> Iterator[tuple[str, Dims]]:
    """One shape, or one for each part of a tuple: `return[0]`, `return[1]`."""
    is_tuple = isinstance(node, ast.Subscript) and _last_name(node.value).lower() == "tuple"
    if is_tuple and isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        for number, part in enumerate(node.slice.elts):
            if (dims := _annotated(part, names)) is not None:
                yield f"return[{number}]", dims
    elif (dims := _annotated(node, names)) is not None:
        yield "return", dims


def _annotated(node: ast.expr | None, names: Mapping[str, object]) -> Dims | None:
    """`Float[Tensor, "batch time 80"]` of jaxtyping, `TensorType["batch", 80]` of torchtyping, or a name for one."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        with_quotes = _parsed(node.value)
        return _annotated(with_quotes, names) if with_quotes is not None else None
    if isinstance(node, ast.BinOp):  # Float[…] | None
        return _annotated(node.left, names) or _annotated(node.right, names)
    if isinstance(node, ast.Name):
        text = getattr(names.get(node.id), "dim_str", None)
        return _split(text, " ") if isinstance(text, str) else tensor_type.aliased(names.get(node.id))
    if not isinstance(node, ast.Subscript):
        return None
    kind, inside = _last_name(node.value), node.slice
    if kind == "Optional":
        return _annotated(inside, names)
    parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
    if kind == "TensorType":
        return tensor_type.written(parts, names)
    if JAXTYPING.match(kind) and len(parts) == 2 and isinstance(parts[1], ast.Constant):
        return _split(str(parts[1].value), " ")
    return None


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _argument(name: str) -> str:
    return "return" if name.lower() in ("return", "returns") else name


def _split(dims: str, separator: str) -> Dims:
    return [dim.strip() for dim in dims.split(separator) if dim.strip()]
