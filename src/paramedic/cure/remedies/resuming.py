"""PM409, PM411, PM609: what was saved is loaded, stays loaded, and is what training goes on with."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit
from paramedic.cure.remedy import remedy
from paramedic.cure.source import LOOPS, Node, Source
from paramedic.findings import Finding


@remedy("PM609", compare="nothing")
def scheduler_before_loading(finding: Finding, source: Source) -> Iterator[Edit]:
    """A scheduler sets the rate when it is made: it is made before the saved rate is loaded."""
    statement = source.statement_at(finding.where.line)
    if not _is_line(source, statement) or "build the scheduler first" not in finding.remedy:
        return
    block, place = source.siblings(statement)
    loading = [other for other in block[:place] if source.calls("load_state_dict", other)]
    if loading:
        indent = source.indent_of(statement) or ""
        moved = source.move(statement, source.before(loading[0], ""), indent=indent)
        yield source.edit("make the scheduler before the state is loaded", *moved)


@remedy("PM609", compare="nothing")
def optimizer_before_loading(finding: Finding, source: Source) -> Iterator[Edit]:
    """Where the optimizer is loaded only if it is there already, it is made first."""
    statement = source.statement_at(finding.where.line)
    if statement is None:
        return
    for condition in source.all(cst.If, source.scope(statement)):
        loaded = [source.code(source.owner(c)) for c in source.calls("load_state_dict", condition) if source.owner(c)]
        makers = [function for name in loaded for function in _makers(source, name)]
        for function in makers:
            if source.indent_of(condition) is not None and function is not source.function_of(condition):
                line = source.before(condition, f"self.{function.name.value}()")
                yield source.edit("make the optimizer before its state is loaded", line)


@remedy("PM609", compare="metrics")
def one_optimizer_for_all(finding: Finding, source: Source) -> Iterator[Edit]:
    """An optimizer that is made anew at every pass forgets; it is made once, before the loop."""
    statement = source.statement_at(finding.where.line)
    if not _is_line(source, statement):
        return
    around = [node for node in source.above(statement) if isinstance(node, LOOPS)]
    loops = [node for node in around if source.scope(node) is source.scope(statement)]
    for loop in reversed(loops):
        inside = {source.code(name) for name in source.all(cst.Name, getattr(loop, "target", loop.body))}
        own = {name for line in source.all(cst.SimpleStatementLine, loop) for name in source.assigned_names(line)}
        read = {source.code(name) for assign in source.all(cst.Assign, statement)
                for name in source.all(cst.Name, assign.value)}  # fmt: skip
        changing = (inside if isinstance(loop, cst.For) else set()) | own - set(source.assigned_names(statement))
        if not read & changing and source.indent_of(loop) is not None:
            moved = source.move(statement, source.before(loop, ""), indent=source.indent_of(loop) or "")
            yield source.edit("make the optimizer once, before the loop", *moved)


@remedy("PM409", compare="metrics")
def load_last(finding: Finding, source: Source) -> Iterator[Edit]:
    """What is initialised after loading is initialised before it."""
    if "initialise first" not in finding.remedy:
        return
    statement = source.statement_at(finding.where.line)
    while statement is not None and isinstance(source.parent(source.parent(statement)), cst.If):
        statement = source.parent(source.parent(statement))  # `if path:` around the loading
    if statement is None or source.indent_of(statement) is None:
        return
    block, place = source.siblings(statement)
    if place < len(block) - 1:
        start, end = source.lines_of(statement)
        target = source.after(block[-1], "")
        opening = source.newline if target.new.startswith(source.newline) else ""
        text = source.text[start:end]
        yield source.edit(
            "load after everything is initialised",
            source.remove(statement), target._replace(new=opening + text),
        )  # fmt: skip


@remedy("PM409", compare="metrics")
def names_that_fit(finding: Finding, source: Source) -> Iterator[Edit]:
    """The keys of the checkpoint get the names that the model has for them."""
    names = re.search(r"given ([\w.]+).*?; expected ([\w.]+)", finding.why)
    if names is None:
        return
    old, new = _prefixes(names[1], names[2])
    for call in source.calls_at(finding.where.line, "load_state_dict") if old != new else []:
        state = source.argument(call, 0, "state_dict")
        if state is not None:
            name = f'name.removeprefix("{old}")' if old else "name"
            renamed = f'"{new}" + {name}' if new else name
            text = f"{{{renamed}: value for name, value in {source.operand(state)}.items()}}"
            said = f"load {old or 'the keys'} as {new}" if new else f"load without the prefix {old}"
            yield source.edit(said, source.replace(state, text))


@remedy("PM411", compare="nothing")
def tie_again(finding: Finding, source: Source) -> Iterator[Edit]:
    """Two weights that were one become one again, by the model's own method or by assignment."""
    statement = source.statement_at(finding.where.line)
    tied = re.search(r"(\w+)\.([\w.]+) = \1\.([\w.]+)", finding.remedy)
    if statement is None or tied is None or source.indent_of(statement) is None:
        return
    function = source.function_of(statement)
    method = function is not None and source.enclosing(function, cst.ClassDef) is not None
    name = "self" if method else _owner_on(source, statement) or tied[1]
    block, _ = source.siblings(statement)
    last = block[-1] if method and not source.all(cst.Return, block[-1]) else statement
    for way in [node.name.value for node in source.all(cst.FunctionDef) if node.name.value.startswith("tie")]:
        yield source.edit("tie the weights again", source.after(last, f"{name}.{way}()"))
    yield source.edit("tie the weights again", source.after(last, f"{name}.{tied[2]} = {name}.{tied[3]}"))


def _prefixes(given: str, wanted: str) -> tuple[str, str]:
    """What stands before the part that both names end in, with its dot."""
    one, other = given.split("."), wanted.split(".")
    while one and other and one[-1] == other[-1]:
        one.pop()
        other.pop()
    return ".".join([*one, ""]), ".".join([*other, ""])


def _owner_on(source: Source, statement: Node) -> str:
    owners = [source.owner(call) for call in source.all(cst.Call, statement)]
    names = [source.dotted(owner) for owner in owners if owner is not None]
    return next((name for name in names if name and name not in source.packages), "")


def _makers(source: Source, name: str) -> list[Node]:
    """Methods without arguments that give this attribute an optimizer."""
    found = []
    for assign in source.all(cst.Assign):
        made = isinstance(assign.value, cst.Call) and source.calls(("parameters", "named_parameters"), assign.value)
        function = source.function_of(assign)
        named = source.code(assign.targets[0].target) == name
        if made and named and function is not None and len(function.params.params) == 1:
            found.append(function)
    return found


def _is_line(source: Source, statement: Node | None) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and source.indent_of(statement) is not None
