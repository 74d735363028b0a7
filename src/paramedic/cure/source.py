"""A file of the user's as text and as a tree, with what remedies ask of it. Edits replace pieces of the text."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from paramedic.cure.edit import Edit, Splice, apply
from paramedic.errors import ParamedicError

Node = Any  # libcst's nodes; its types are not read (see pyproject.toml)
Place = tuple[tuple[int, int], tuple[int, int]]
_NEWLINE = re.compile(r"\r\n?|\n")  # what libcst takes for the end of a line
ATOMS = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.Integer, cst.Float, cst.Tuple, cst.List, cst.Dict)
LOOPS = (cst.For, cst.While)
BLOCKS = (cst.IndentedBlock, cst.Module)


@dataclass(frozen=True, slots=True)
class Beside:
    """What values may come from but this file: others of the project, by name, and the command line."""

    files: Callable[[], Mapping[str, str]] = dict
    args: tuple[str, ...] = ()


class Source:
    """Lines are counted from 1, as findings count them."""

    def __init__(self, file: str, text: str, beside: Beside | None = None) -> None:
        self.file, self.text, self.beside = file, text, beside or Beside()
        try:
            wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        except cst.ParserSyntaxError as error:
            raise ParamedicError(
                f"{file} cannot be parsed: {error.message}",
                expected="a file that this version of libcst can read",
                fix="pip install --upgrade libcst",
            ) from None
        self.module: Node = wrapper.module
        self._places = wrapper.resolve(PositionProvider)
        self._children: dict[Node, Sequence[Node]] = {}  # libcst makes them anew whenever it is asked
        self._nodes = list(self.walk(self.module))
        self._parents = {child: node for node, children in self._children.items() for child in children}
        self._starts = [0, *(found.end() for found in _NEWLINE.finditer(text))]
        self.newline = str(self.module.default_newline)

    def in_file(self, file: str) -> Source:
        """This file, or another one of the project."""
        return self if file == self.file else Source(file, self.text_of(file), self.beside)

    def text_of(self, file: str) -> str:
        return self.text if file == self.file else self.beside.files()[file]

    # Where things are -----------------------------------------------------------------------------------------------

    def span(self, node: Node) -> tuple[int, int]:
        place = self._places[node]
        return (
            self._starts[place.start.line - 1] + place.start.column,
            self._starts[place.end.line - 1] + place.end.column,
        )

    def line(self, node: Node) -> int:
        return int(self._places[node].start.line)

    def place(self, node: Node) -> Place:
        """First and last line, with the columns; the brackets around an expression are not part of it."""
        place = self._places[node]
        return (place.start.line, place.start.column), (place.end.line, place.end.column)

    def expression_at(self, place: Place) -> Node | None:
        """The outermost expression of exactly this place."""
        return self._expressions.get(place)

    @cached_property
    def _expressions(self) -> dict[Place, Node]:
        found: dict[Place, Node] = {}
        for node in self._nodes:
            if isinstance(node, cst.BaseExpression):
                found.setdefault(self.place(node), node)
        return found

    def code(self, node: Node) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def operand(self, node: Node) -> str:
        """The text of an expression, in brackets where it needs them to be an operand or to have a method called."""
        text = self.code(node)
        return text if (isinstance(node, ATOMS) and not text.lstrip("-").isdigit()) or node.lpar else f"({text})"

    def covers(self, node: Node, line: int) -> bool:
        place = self._places[node]
        return bool(place.start.line <= line <= place.end.line)

    # Going about in the tree ----------------------------------------------------------------------------------------

    def walk(self, node: Node) -> Iterator[Node]:
        """A node and all below it, in the order of the text."""
        waiting = [node]
        while waiting:
            node = waiting.pop()
            if node not in self._children:
                self._children[node] = node.children
            yield node
            waiting.extend(reversed(self._children[node]))

    def all(self, kind: type | tuple[type, ...], node: Node | None = None) -> list[Node]:
        nodes = self._nodes if node is None or node is self.module else self.walk(node)
        return [found for found in nodes if isinstance(found, kind)]

    def above(self, node: Node) -> Iterator[Node]:
        """Its parent, and so on up to the module."""
        while node in self._parents:
            node = self._parents[node]
            yield node

    def parent(self, node: Node) -> Node:
        return self._parents.get(node)

    def enclosing(self, node: Node, kind: type | tuple[type, ...]) -> Node | None:
        return next((found for found in self.above(node) if isinstance(found, kind)), None)

    def inside(self, node: Node, outer: Node) -> bool:
        return any(found is outer for found in self.above(node))

    def statement_at(self, line: int | None) -> Node | None:
        """The innermost statement that covers the line; of a compound one, only its head counts."""
        best = None
        for node in self.all((cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            heads = getattr(node, "decorators", ())
            if line is not None and any(self.covers(found, line) for found in (node, *heads)):
                best = node
        return best

    def statement_of(self, node: Node) -> Node | None:
        kinds = (cst.SimpleStatementLine, cst.BaseCompoundStatement)
        return node if isinstance(node, kinds) else self.enclosing(node, kinds)

    def siblings(self, statement: Node) -> tuple[Sequence[Node], int]:
        """The statements of its block, and which of them it is."""
        block = self.parent(statement)
        if not isinstance(block, BLOCKS):
            return [statement], 0
        return block.body, next(i for i, node in enumerate(block.body) if node is statement)

    def function_of(self, node: Node) -> Node | None:
        return self.enclosing(node, cst.FunctionDef)

    def scope(self, node: Node) -> Node:
        """The function around it, or the module."""
        return self.function_of(node) or self.module

    # Names and calls ------------------------------------------------------------------------------------------------

    def dotted(self, node: Node) -> str:
        """`a.b.c` of a name or an attribute; the last part alone where something else stands before it."""
        if isinstance(node, cst.Name):
            return str(node.value)
        if isinstance(node, cst.Attribute):
            before = self.dotted(node.value)
            return f"{before}.{node.attr.value}" if before else f".{node.attr.value}"
        return ""

    def called(self, call: Node) -> str:
        """The last part of the called name: "softmax" of `F.softmax(x)`, and of `f(x).softmax(1)`."""
        return self.dotted(call.func).rpartition(".")[2]

    def owner(self, call: Node) -> Node | None:
        """What a method is called on: `x` of `x.view(3)`."""
        return call.func.value if isinstance(call.func, cst.Attribute) else None

    def is_method(self, call: Node) -> bool:
        """A call on a value, not on a package such as torch or F."""
        owner = self.owner(call)
        return owner is not None and self.dotted(owner).partition(".")[0] not in self.packages

    def applied_to(self, call: Node) -> Node:
        """The value that a function, a layer of `self` or a method works on."""
        owner = self.owner(call)
        if not call.args:
            return call if owner is None else owner
        layer = owner is not None and self.dotted(owner) == "self"
        return owner if self.is_method(call) and not layer else call.args[0].value

    @cached_property
    def packages(self) -> set[str]:
        """The names under which modules were imported."""
        found = {"torch", "nn", "F", "np", "numpy", "math"}
        for node in self.all((cst.Import, cst.ImportFrom)):
            for alias in node.names if not isinstance(node.names, cst.ImportStar) else ():
                name = alias.asname.name if alias.asname else alias.name
                found.add(self.dotted(name).partition(".")[0])
        return found

    def calls(self, names: str | Sequence[str], node: Node | None = None) -> list[Node]:
        names = (names,) if isinstance(names, str) else names
        return [call for call in self.all(cst.Call, node) if self.called(call) in names]

    def calls_at(self, line: int | None, names: str | Sequence[str]) -> list[Node]:
        """Calls in the statement at this line, those that begin on the line itself first."""
        statement = self.statement_at(line)
        if statement is None:
            return []
        found = [call for call in self.calls(names, statement) if self.statement_of(call) is statement]
        return sorted(found, key=lambda call: not self.covers(call.func, line or 0))

    def argument(self, call: Node, place: int | None, keyword: str = "") -> Node | None:
        """The argument that was given at this place, or by this keyword."""
        for index, given in enumerate(call.args):
            if given.star:
                return None
            name = given.keyword.value if given.keyword else ""
            if (keyword and name == keyword) or (not name and index == place):
                return given.value
        return None

    def assigned_names(self, statement: Node) -> list[str]:
        """`a` and `b.c` of `a = b.c = …`; the parts of a tuple count each."""
        targets = [t.target for node in self.all(cst.Assign, statement) for t in node.targets]
        targets += [node.target for node in self.all((cst.AnnAssign, cst.AugAssign), statement)]
        parts = [e.value for t in targets if isinstance(t, cst.Tuple) for e in t.elements]
        return [self.dotted(target) for target in [*targets, *parts] if self.dotted(target)]

    def assignments(self, name: str, before: Node) -> list[Node]:
        """Statements that give `name` a value, in the scope of `before` and above it; the nearest last."""
        end = self.span(before)[0]
        return [
            found
            for found in self.all(cst.SimpleStatementLine, self.scope(before))
            if self.span(found)[0] < end and name in self.assigned_names(found)
        ]

    def mentions(self, node: Node, name: str) -> bool:
        return any(self.dotted(found) == name for found in self.all((cst.Name, cst.Attribute), node))

    # Edits ----------------------------------------------------------------------------------------------------------

    def edit(self, title: str, *splices: Splice) -> Edit:
        return Edit(title=title, file=self.file, splices=splices)

    def replace(self, node: Node, new: str) -> Splice:
        return Splice(*self.span(node), new)

    def indent_of(self, statement: Node) -> str | None:
        """What stands before it in its line; None where that is more than blanks, and no line can be put there."""
        start = self.span(statement)[0]
        before = self.text[self._starts[self.line(statement) - 1] : start]
        return before if not before.strip() else None

    def before(self, statement: Node, *lines: str) -> Splice:
        """New lines in front of a statement, behind the comments above it."""
        indent = self.indent_of(statement) or ""
        at = self._starts[self.line(statement) - 1]
        return Splice(at, at, "".join(f"{indent}{line}{self.newline}" for line in lines))

    def after(self, statement: Node, *lines: str, indent: str | None = None) -> Splice:
        """New lines behind a statement and its comment."""
        indent = (self.indent_of(statement) or "") if indent is None else indent
        end = self._line_end(self.span(statement)[1])
        ends_open = not self.text[:end].endswith(("\n", "\r"))
        text = "".join(f"{indent}{line}{self.newline}" for line in lines)
        return Splice(end, end, self.newline + text.removesuffix(self.newline) if ends_open else text)

    def remove(self, statement: Node) -> Splice:
        """A statement with its line and its comment; `pass` where its block would be empty."""
        block, _ = self.siblings(statement)
        if len(block) == 1:
            return self.replace(statement, "pass")
        return Splice(*self.lines_of(statement), "")

    def lines_of(self, statement: Node) -> tuple[int, int]:
        """From the first character of its first line to the end of its last line."""
        end = self.span(statement)[1]
        at = end if self.text[:end].endswith(("\n", "\r")) else self._line_end(end)
        return self._starts[self.line(statement) - 1], at

    def own_line(self, node: Node) -> Splice | None:
        """The line of an element that stands alone in it, with comma and comment; None where it does not."""
        start, end = self._starts[self.line(node) - 1], self._line_end(self.span(node)[1])
        before, behind = self.text[start : self.span(node)[0]], self.text[self.span(node)[1] : end]
        alone = not before.strip() and re.fullmatch(r",?\s*(#.*)?\s*", behind)
        return Splice(start, end, "") if alone else None

    def move(self, statement: Node, to: Splice, *, indent: str) -> tuple[Splice, Splice]:
        """Take a statement with its comment out of its place and put it where `to` inserts, at that depth."""
        start, end = self._starts[self.line(statement) - 1], self._line_end(self.span(statement)[1])
        depth = len(self.indent_of(statement) or "")
        lines = self.text[start:end].rstrip("\r\n").splitlines()
        text = "".join(f"{indent}{line[depth:]}{self.newline}" for line in lines)
        opening = self.newline if to.new.startswith(self.newline) else ""  # behind a last line without an end
        return self.remove(statement), Splice(to.start, to.end, opening + text)

    def nest(self, statement: Node, head: str, *, step: str = "    ") -> Splice:
        """The statement with its comment below a new line, one level deeper."""
        start, end = self._starts[self.line(statement) - 1], self._line_end(self.span(statement)[1])
        indent = self.indent_of(statement) or ""
        lines = self.text[start:end].splitlines(keepends=True)
        return Splice(start, end, f"{indent}{head}{self.newline}" + "".join(f"{step}{line}" for line in lines))

    def unwrap(self, call: Node) -> Splice:
        """A call replaced by what it is applied to: `x` for `F.softmax(x, dim=1)` and for `x.softmax(1)`."""
        inner = self.applied_to(call)
        tight = isinstance(self.parent(call), (cst.BinaryOperation, cst.UnaryOperation, cst.Attribute, cst.Subscript))
        return self.replace(call, self.operand(inner) if tight else self.code(inner))

    def add_argument(self, call: Node, text: str) -> Splice:
        """One more argument behind those that are there, on the line of the last one."""
        if not call.args:
            at = self.span(call)[1] - 1
            return Splice(at, at, text)
        end = self.span(call.args[-1].value)[1] + sum(len(")") for _ in call.args[-1].value.rpar)
        return Splice(end, end, f", {text}")

    def _line_end(self, at: int) -> int:
        return next((start for start in self._starts if start > at), len(self.text))

    def after_edit(self, edit: Edit) -> str:
        return apply(self.text, edit.splices)

    def stays_valid(self, edit: Edit) -> bool:
        """Whether the edit changes something that is not there yet, and leaves a program that python accepts."""
        try:
            new = self.after_edit(edit)
            if new == self.text or all(self._is_made(splice) for splice in edit.splices):
                return False
            ast.parse(new)
            cst.parse_module(new)
        except (SyntaxError, ValueError, cst.ParserSyntaxError):
            return False
        return True

    def _is_made(self, splice: Splice) -> bool:
        """Whether what it would put around or beside a piece of text is there already."""
        old, new = self.text[splice.start : splice.end], splice.new
        places = [0, len(new)] if not old else [new.find(old)]
        for place in places:
            head, tail = new[:place], new[place + len(old) :]
            around = self.text[: splice.start].endswith(head) and self.text[splice.end :].startswith(tail)
            if place >= 0 and (around or (old and old.startswith(head) and old.endswith(tail))):
                return True
        return False
