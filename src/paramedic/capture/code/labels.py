"""Where the source makes the labels that a library's loop is given: shifted, or with some of them left out."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType

from torch.utils.data import DataLoader

from paramedic.aliases import Function
from paramedic.capture.code.trees import definition, tree
from paramedic.program.untouched import on_class, stored
from paramedic.program.where import is_users, shown_path
from paramedic.record.facts import LabelSites
from paramedic.record.site import Site

LEFT_OUT = "-100"
ROOM = ("zeros", "full", "ones", "zeros_like", "full_like", "pad_sequence", "pad")


def label_sites(loader: DataLoader) -> LabelSites:
    """The lines that shift the labels of a loader's batches, and that choose which of them do not count."""
    codes = [code for code in _codes(loader) if is_users(code.co_filename)]
    return LabelSites(shifted=_first(codes, _shifted), left_out=_first(codes, _left_out), padded=_first(codes, _padded))


def _codes(loader: DataLoader) -> Iterator[CodeType]:
    """Of the collate function, perhaps inside a library's, and of the dataset."""
    collate = stored(loader, "collate_fn")
    functions = [collate, stored(collate, "data_collator"), on_class(type(collate), "__call__")]
    for function in [*functions, on_class(type(loader.dataset), "__getitem__")]:
        plain = function.__func__ if isinstance(function, MethodType) else function
        if isinstance(plain, FunctionType):
            yield plain.__code__


def _first(codes: list[CodeType], find: Function) -> Site | None:
    for code in codes:
        function = definition(code)
        line = find(function, tree(code.co_filename)) if function is not None else None
        if line is not None:
            return Site(shown_path(code.co_filename), line, code.co_name)
    return None


def _shifted(function: ast.FunctionDef, module: ast.Module) -> int | None:
    """`"labels": ids[1:]`, or what that name, or a part of it, was last assigned: `labels[:, :-1] = ids[:, 1:]`."""
    for node in ast.walk(function):
        value: ast.expr | None = None
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            value = next((v for k, v in pairs if isinstance(k, ast.Constant) and k.value == "labels"), None)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            key = node.targets[0].slice
            value = node.value if isinstance(key, ast.Constant) and key.value == "labels" else None
        if isinstance(value, ast.Name):
            value = next((v for v in reversed(_assigned(function, value.id, parts=True))), None)
        if value is not None and any(_moves(inner) for inner in ast.walk(value)):
            return value.lineno
    return None


def _moves(node: ast.AST) -> bool:
    """[1:], [i + 1 : i + 1 + size] and their like."""
    if not isinstance(node, ast.Slice):
        return False
    begin = node.lower
    parts = [begin.left, begin.right] if isinstance(begin, ast.BinOp) and isinstance(begin.op, ast.Add) else [begin]
    return any(isinstance(part, ast.Constant) and part.value == 1 for part in parts)


def _left_out(function: ast.FunctionDef, module: ast.Module) -> int | None:
    """`labels[labels == PAD] = -100`, or the line that says that the padding is another token: `PAD = EOS`."""
    for node in ast.walk(function):
        chosen: ast.expr | None = None
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            chosen = node.targets[0].slice if ast.unparse(node.value) == LEFT_OUT else None
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "").startswith("masked_fill") and node.args:
            chosen = node.args[0] if ast.unparse(node.args[-1]) == LEFT_OUT else None
        if isinstance(chosen, ast.Compare) and len(chosen.ops) == 1 and isinstance(chosen.ops[0], ast.Eq):
            return _same_as_another(chosen.comparators[0], module) or chosen.lineno
    return None


def _padded(function: ast.FunctionDef, module: ast.Module) -> int | None:
    """`labels = torch.zeros(rows, width)`, `pad_sequence(labels, …)`: what room the labels of a batch are put into."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.targets[0], ast.Name):
            name = node.value.func.attr if isinstance(node.value.func, ast.Attribute) else ""
            target = node.targets[0].id.lower()
            if name.removeprefix("new_") in ROOM and any(word in target for word in ("label", "tag", "target")):
                return node.lineno
    return None


def _same_as_another(token: ast.expr, module: ast.Module) -> int | None:
    """`PAD = EOS`, `tokenizer.pad_token = tokenizer.eos_token`."""
    if isinstance(token, ast.Name):
        values = _assigned(module, token.id)
        return values[0].lineno if len(values) == 1 and isinstance(values[0], (ast.Name, ast.Attribute)) else None
    for node in ast.walk(module):
        if isinstance(token, ast.Attribute) and isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
            target = getattr(node.targets[0], "attr", "")
            if target.removesuffix("_id") == token.attr.removesuffix("_id") and node.value.attr.startswith("eos"):
                return node.lineno
    return None


def _assigned(scope: ast.AST, name: str, *, parts: bool = False) -> list[ast.expr]:
    """What a variable is set to, line by line; with `parts`, also what is written into it."""
    found = [node for node in ast.walk(scope) if isinstance(node, ast.Assign)]
    pairs = [pair for node in found for target in node.targets for pair in _pairs(target, node.value)]
    own = [value for target, value in pairs if _is_target(target, name, parts)]
    return sorted(own, key=lambda value: value.lineno)


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """`x, y = ids[:-1], ids[1:]` are two assignments."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _is_target(target: ast.expr, name: str, parts: bool) -> bool:
    if parts and isinstance(target, ast.Subscript):
        target = target.value
    return isinstance(target, ast.Name) and target.id == name
