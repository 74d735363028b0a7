"""Where an object's attribute gets its value."""

from __future__ import annotations

import ast

from paramedic.static.definitions import definitions
from paramedic.static.history import Link
from paramedic.static.program import Program, own_nodes
from paramedic.static.signs import name_of

_END = ("eos", "end")


def set_in_init(program: Program, class_: str, attribute: str) -> Link | None:
    """The line of __init__ that sets `self.attribute`: of this class, else of the only one that does."""
    own = program.methods(class_, "__init__")
    for scopes in (own, program.functions.get("__init__", [])):
        found = [
            Link(made.line, made.value, scope, "assigned")
            for scope in scopes
            for made in definitions(scope.body, f"self.{attribute}", None)[:1]
        ]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def padding_is_end(program: Program) -> Link | None:
    """The only line that makes one of the other.

    `tokenizer.pad_token = tokenizer.eos_token`, `PAD = EOS`, `Tokenizer(eos_token="</s>", pad_token="</s>")`.
    """
    found = []
    places = [(scope, scope.body) for scope in program.scopes()]
    places += [(scope, scope.owner) for classes in program.classes.values() for scope in classes if scope.owner]
    for scope, body in places:
        for node in own_nodes(body):
            if isinstance(node, ast.Assign) and _pads(node.targets[0]) and _ends(node.value):
                found.append(Link(node.lineno, node.value, scope, "assigned"))
            elif isinstance(node, ast.Call) and (given := _padded_with_end(node)) is not None:
                found.append(Link(given.lineno, given, scope, "given"))
    return found[0] if len(found) == 1 else None


def buffer_size_at(program: Program) -> Link | None:
    """The only line that gives a buffer its size as a number: `dict(buffer=64)`, `stream.shuffle(buffer_size=100)`."""
    found = {}
    for scope in program.scopes():
        for node in own_nodes(scope.body):
            for name, value in _named(node):
                if "buffer" in name.lower() and isinstance(value, ast.Constant) and type(value.value) is int:
                    found[scope.file, value.lineno] = Link(value.lineno, value, scope, "given")
    return next(iter(found.values())) if len(found) == 1 else None


def _named(node: ast.AST) -> list[tuple[str, ast.expr]]:
    """The values that a node gives a name to: an argument, a variable, an entry of a dict."""
    if isinstance(node, ast.keyword):
        return [(node.arg or "", node.value)]
    if isinstance(node, ast.Assign):
        return [(name_of(node.targets[0]), node.value)]
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return [
            (key.value, value) for key, value in pairs if isinstance(key, ast.Constant) and isinstance(key.value, str)
        ]
    return []


def _padded_with_end(call: ast.Call) -> ast.expr | None:
    """The padding that a call is given, if it is the end token: by its name, or the same text or number as `eos…=`.

    Not an id: `generate(…, pad_token_id=tokenizer.eos_token_id)` says how to generate, and masks no label.
    """
    named = {keyword.arg.lower(): keyword.value for keyword in call.keywords if keyword.arg}
    ends = [ast.dump(value) for name, value in named.items() if name.startswith(_END)]
    for name, value in named.items():
        if name.startswith("pad") and not name.endswith("_id") and (_ends(value) or ast.dump(value) in ends):
            return value
    return None


def _pads(target: ast.expr) -> bool:
    return name_of(target).lower().startswith("pad")


def _ends(value: ast.expr) -> bool:
    return isinstance(value, ast.Name | ast.Attribute) and name_of(value).lower().startswith(_END)
