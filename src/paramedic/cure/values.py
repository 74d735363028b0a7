"""Where a number or a switch is set: in the code, as a default, in a file of settings, or on the command line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import libcst as cst

from paramedic.cure.edit import Edit, Splice
from paramedic.cure.origins import origins
from paramedic.cure.source import Node, Source

NUMBERS = (cst.Float, cst.Integer)
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A value that can be changed; that of a switch is 0 or 1."""

    value: float
    change: Callable[[str, str], Edit]  # title and the new value, as python writes it


@dataclass(frozen=True, slots=True)
class Kind:
    """What is looked for: how it is written in files and on the command line, and in code."""

    pattern: str
    is_literal: Callable[[Node], bool]


A_NUMBER = Kind(NUMBER, lambda node: isinstance(node, NUMBERS))
A_SWITCH = Kind("[Tt]rue|[Ff]alse", lambda node: isinstance(node, cst.Name) and node.value in ("True", "False"))


def set_to(source: Source, node: Node, title: str, new: str) -> Iterator[Edit]:
    """The value of an expression becomes `new`: where it is set, or else where it is used."""
    places = list(settings(source, node, A_SWITCH if new in ("True", "False") else A_NUMBER))
    if all(place.value != _value(new) for place in places):  # else it is done already
        yield from (place.change(title, new) for place in places)
        yield source.edit(title, source.replace(node, new))


def settings(source: Source, node: Node, kind: Kind = A_NUMBER) -> Iterator[Setting]:
    """Places that the value of an expression may come from. What the command line says goes before all defaults."""
    if kind.is_literal(node):
        yield in_code(source, node)
        return
    name = _name(source, node)
    given = list(_typed(source, name, kind)) if name else []
    yield from given
    if given:
        return
    yield from _factors(source, node, kind)
    yield from _followed(source, node, kind)
    for home in (source.in_file(file) for file in [source.file, *_python(source)] if name):
        yield from _defaults(home, name, kind)
    yield from _in_files(source, name, kind)


def _value(text: str) -> float:
    return float(text.lower() == "true") if text[0] in "TtFf" else float(text.replace("_", ""))


def _name(source: Source, node: Node) -> str:
    """`lr` of `args.lr`, of `cfg["optim"]["lr"]`, of `cfg.get("lr")` and of `float(args.lr)`."""
    if isinstance(node, cst.Subscript) and isinstance(node.slice[-1].slice, cst.Index):
        return source.code(node.slice[-1].slice.value).strip("\"'")
    if isinstance(node, cst.Call) and node.args and source.called(node) in ("float", "int", "get"):
        inner = node.args[0].value
        return source.code(inner).strip("\"'") if source.called(node) == "get" else _name(source, inner)
    return source.dotted(node).rpartition(".")[2]


def in_code(source: Source, node: Node) -> Setting:
    old = source.code(node)
    return Setting(
        value=_value(old),
        change=lambda title, new: source.edit(title, source.replace(node, _as_before(old, new))),
    )


def _as_before(old: str, new: str) -> str:
    """`3.0` in place of `30.0`, and `true` in place of `false`."""
    if "." in old and new.isdigit():
        return f"{new}.0"
    return new.lower() if old.islower() and new in ("True", "False") else new


def _python(source: Source) -> list[str]:
    return [file for file in source.beside.files() if file.endswith(".py") and file != source.file]


def _followed(source: Source, node: Node, kind: Kind) -> Iterator[Setting]:
    """Behind a name: a constant of this file or of another one."""
    for origin in origins(source, node):
        if kind.is_literal(origin.node):
            yield in_code(origin.source, origin.node)
            return
        if not isinstance(origin.node, cst.Name | cst.Attribute):
            yield from _factors(origin.source, origin.node, kind)
            return


def _factors(source: Source, node: Node, kind: Kind) -> Iterator[Setting]:
    """`base_lr` of `base_lr * batch_size / 256`, with which the product changes in proportion."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply | cst.Divide):
        first = node.left
        if isinstance(first, cst.Name | cst.Attribute):
            yield from settings(source, first, kind)
        else:
            yield from _factors(source, first, kind)


def _defaults(source: Source, name: str, kind: Kind) -> Iterator[Setting]:
    """Of a field, an attribute, a parameter, an entry of a dict, an option of argparse or click."""
    for target, value in _assigned(source):
        if source.dotted(target).rpartition(".")[2] == name and kind.is_literal(value):
            yield in_code(source, value)
    for call in source.calls(("add_argument", "option", "DEFINE_float", "DEFINE_boolean", "Option")):
        words = [source.code(arg.value).strip("\"'") for arg in call.args if not arg.keyword]
        option = next((word for word in words if word.lstrip("-").replace("-", "_") == name), None)
        default, action = source.argument(call, None, "default"), source.argument(call, None, "action")
        if option is not None and default is not None and kind.is_literal(default):
            yield in_code(source, default)
        elif option is not None and kind is A_SWITCH and action is not None and "store_true" in source.code(action):
            yield _not_typed(source.beside.args, option)
    for param in source.all(cst.Param):
        if param.name.value == name and param.default is not None and kind.is_literal(param.default):
            yield in_code(source, param.default)
    for element in source.all(cst.DictElement):
        if source.code(element.key).strip("\"'") == name and kind.is_literal(element.value):
            yield in_code(source, element.value)


def _assigned(source: Source) -> Iterator[tuple[Node, Node]]:
    """Names with what they are given, also those of `A, B = 1, 2`."""
    for node in source.all((cst.Assign, cst.AnnAssign)):
        target = node.target if isinstance(node, cst.AnnAssign) else node.targets[0].target
        if isinstance(target, cst.Tuple) and isinstance(node.value, cst.Tuple):
            yield from ((t.value, v.value) for t, v in zip(target.elements, node.value.elements, strict=False))
        elif node.value is not None:
            yield target, node.value


def _in_files(source: Source, name: str, kind: Kind) -> Iterator[Setting]:
    """`lr: 0.1` of yaml, `"lr": 0.1` of json, `lr = 0.1` of toml and ini, byte for byte as it was around the value."""
    quoted = rf"[\"']?{re.escape(name)}[\"']?[ \t]*"
    key = re.compile(rf"(?m)^[ \t]*(?:- )?{quoted}[:=][ \t]*({kind.pattern})(?=[ \t,}}]*(?:#.*)?\r?$)")
    inline = re.compile(rf"[{{,][ \t\r\n]*{quoted}:[ \t]*({kind.pattern})(?=[ \t\r\n]*[,}}])")
    for file, text in source.beside.files().items() if name else ():
        if not file.endswith(".py"):
            spans = {found.span(1) for pattern in (key, inline) for found in pattern.finditer(text)}
            yield from (_in_file(file, text, *span) for span in sorted(spans))


def _in_file(file: str, text: str, start: int, end: int) -> Setting:
    def change(title: str, new: str) -> Edit:
        new = re.sub(r"^(-?\d+)e", r"\1.0e", _as_before(text[start:end], new))  # yaml takes 1e-05 for a word
        return Edit(title=title, file=file, splices=(Splice(start, end, new),))

    return Setting(value=_value(text[start:end]), change=change)


def _typed(source: Source, name: str, kind: Kind) -> Iterator[Setting]:
    """`--lr 0.1`, `--lr=0.1`, and `optimizer.lr=0.1` as Hydra takes it."""
    args = source.beside.args
    for place, word in enumerate(args):
        option, equals, text = word.partition("=")
        option = option.lstrip("-+").replace("-", "_").rpartition(".")[2]
        at, text = (place, text) if equals else (place + 1, args[place + 1] if place + 1 < len(args) else "")
        if option == name and re.fullmatch(kind.pattern, text) and (equals or word.startswith("-")):
            yield _on_command_line(args, at, text)


def _on_command_line(args: tuple[str, ...], at: int, text: str) -> Setting:
    def change(title: str, new: str) -> Edit:
        word = args[at][: len(args[at]) - len(text)] + _as_before(text, new)
        return Edit(title=title, file="", splices=(), args=(*args[:at], word, *args[at + 1 :]))

    return Setting(value=_value(text), change=change)


def _not_typed(args: tuple[str, ...], option: str) -> Setting:
    """An option that switches something on by being there."""

    def change(title: str, new: str) -> Edit:
        return Edit(title=title, file="", splices=(), args=(*args, option))

    return Setting(value=float(option in args), change=change)
