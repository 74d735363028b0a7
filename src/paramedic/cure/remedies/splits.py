"""PM307, PM316, PM317: what is held out is apart from what is trained on, and is not changed at random."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit, Splice
from paramedic.cure.origins import origins
from paramedic.cure.remedies.copies import first_import, imported
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Node, Source
from paramedic.findings import Finding

HELD_OUT = re.compile(r"val|test|dev|eval|held")
SWITCHES = re.compile(r"transform|augment|aug$|jitter|noise|crop|flip|training|is_train|train$|mode")


@remedy("PM307", compare="nothing")
def the_part_itself(finding: Finding, source: Source) -> Iterator[Edit]:
    """`part.dataset` is the whole that the part was taken from."""
    statement = source.statement_at(finding.where.line)
    calls = source.calls("DataLoader", source.scope(statement)) if statement is not None else []
    whole = [source.argument(call, 0, "dataset") for call in calls]
    parts = [node for node in whole if isinstance(node, cst.Attribute) and node.attr.value == "dataset"]
    if parts:
        splices = [source.replace(node, source.code(node.value)) for node in parts]
        yield source.edit("give each loader its part, not the whole", *splices)


@remedy("PM307", compare="nothing")
def the_rest(finding: Finding, source: Source) -> Iterator[Edit]:
    """Two slices of one thing part it where they use one border: `a[:-n]` and `a[-n:]`."""
    statements = _made_at(source, finding)
    slices = _slices(source, source.scope(statements[0])) if statements else []
    for where in statements:
        mine = [found for found in slices if source.statement_of(found[0]) is where]
        splices = [splice for found in mine for splice in _complement(source, found, slices)]
        if splices:
            yield source.edit("hold out what is not trained on", *splices)


@remedy("PM316", compare="nothing")
def weight_per_sample(finding: Finding, source: Source) -> Iterator[Edit]:
    """`weights[labels]`: by the values that the weights were counted from."""
    for call in source.calls_at(finding.where.line, "WeightedRandomSampler"):
        weights = source.argument(call, 0, "weights")
        for origin in origins(source, weights) if weights is not None else []:
            for count in origin.source.calls(("bincount", "unique", "Counter"), origin.node):
                if count.args:
                    labels = origin.source.code(source.applied_to(count) if source.is_method(count) else count.args[0])
                    new = f"{source.operand(weights)}[{labels}]"
                    yield source.edit("a weight for each sample", source.replace(weights, new))


@remedy("PM317", compare="nothing")
def copy_of_the_dataset(finding: Finding, source: Source) -> Iterator[Edit]:
    """`part.dataset.transform = …` on a copy, so that the other part keeps its own."""
    statement = source.statement_at(finding.where.line)
    if not isinstance(statement, cst.SimpleStatementLine) or source.indent_of(statement) is None:
        return
    for assign in source.all(cst.Assign, statement):
        target = assign.targets[0].target
        shared = target.value if isinstance(target, cst.Attribute) else None
        if isinstance(shared, cst.Attribute) and shared.attr.value == "dataset":
            line = source.before(statement, f"{source.code(shared)} = copy.copy({source.code(shared)})")
            yield source.edit("change a copy of the dataset", line, *import_copy(source))


@remedy("PM317", compare="nothing")
def evaluate_without_chance(finding: Finding, source: Source) -> Iterator[Edit]:
    """The held-out part is taken from a copy of the dataset whose random transform is off."""
    for statement in _made_at(source, finding):
        for call in source.calls("Subset", statement):
            whole = call.args[0].value if call.args else None
            for name, off in _switches(source, whole) if isinstance(whole, cst.Name | cst.Attribute) else ():
                lines = [f"plain = copy.copy({source.code(whole)})", f"plain.{name} = {off}"]
                splices = [source.before(statement, *lines), source.replace(whole, "plain"), *import_copy(source)]
                yield source.edit("evaluate on the data as it is", *splices)
        for call in source.calls("random_split", statement):
            whole = call.args[0].value if call.args else None
            parts = [name for name in source.assigned_names(statement) if HELD_OUT.search(name.lower())]
            for name, off in _switches(source, whole) if isinstance(whole, cst.Name | cst.Attribute) and parts else ():
                lines = [f"{part}.dataset = copy.copy({source.code(whole)})" for part in parts]
                lines += [f"{part}.dataset.{name} = {off}" for part in parts]
                splices = [source.after(statement, *lines), *import_copy(source)]
                yield source.edit("evaluate on the data as it is", *splices)


@remedy("PM317", compare="nothing")
def one_draw_for_both(finding: Finding, source: Source) -> Iterator[Edit]:
    """Picture and target go through a random function together, so that both are turned or none is."""
    statement = source.statement_at(finding.where.line)
    if statement is None or source.indent_of(statement) is None:
        return
    block, place = source.siblings(statement)
    for one, other in zip(block[max(place - 1, 0) : place + 1], block[max(place, 1) : place + 2], strict=False):
        calls = [_applied(source, found) for found in (one, other)]
        if calls[0] and calls[1] and calls[0][0] == calls[1][0] and calls[0][1] != calls[1][1]:
            (function, first), (_, second) = calls[0], calls[1]
            start, end = source.span(one)[0], source.span(other)[1]
            new = f"{first}, {second} = {function}(torch.stack(({first}, {second})))"
            yield source.edit("turn both by one draw", Splice(start, end, new))


def _made_at(source: Source, finding: Finding) -> list[Node]:
    """The statement of the finding, and those that made the dataset of a loader in it."""
    statement = source.statement_at(finding.where.line)
    loaded = source.calls_at(finding.where.line, "DataLoader")
    made = [origin for call in loaded if call.args for origin in origins(source, call.args[0].value)]
    found = [statement, *(source.statement_of(origin.node) for origin in made if origin.source is source)]
    lines = [line for line in found if isinstance(line, cst.SimpleStatementLine)]
    return [line for line in lines if source.indent_of(line) is not None]


def import_copy(source: Source) -> list[Splice]:
    return [] if "copy" in imported(source) else [source.before(first_import(source), "import copy")]


def _applied(source: Source, statement: Node) -> tuple[str, str] | None:
    """Function and name of `x = flip(x)`."""
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return None
    assign = statement.body[0]
    if not isinstance(assign, cst.Assign) or not isinstance(assign.value, cst.Call) or len(assign.value.args) != 1:
        return None
    name = source.code(assign.targets[0].target)
    return (source.code(assign.value.func), name) if source.code(assign.value.args[0].value) == name else None


def _switches(source: Source, whole: Node) -> Iterator[tuple[str, str]]:
    """Attributes of the dataset's class that turn its randomness on, with what turns it off."""
    for origin in origins(source, whole):
        home = origin.source
        if not isinstance(origin.node, cst.Call):
            continue
        for owner in [found for found in home.all(cst.ClassDef) if found.name.value == home.called(origin.node)]:
            for assign in home.all(cst.Assign, owner):
                target = assign.targets[0].target
                name = target.attr.value if isinstance(target, cst.Attribute) else ""
                if home.dotted(target) == f"self.{name}" and SWITCHES.search(name.lower()):
                    given = home.argument(origin.node, None, name)
                    is_flag = given is not None and home.code(given) in ("True", "False")
                    yield name, "False" if is_flag else "None"
        return


def _slices(source: Source, scope: Node) -> list[tuple[Node, str, str, str]]:
    """Node, base, lower and upper of the slices of one axis."""
    found = []
    for node in source.all(cst.Subscript, scope):
        part = node.slice[0].slice
        if len(node.slice) == 1 and isinstance(part, cst.Slice) and part.step is None:
            lower, upper = (source.code(end) if end is not None else "" for end in (part.lower, part.upper))
            if bool(lower) != bool(upper):
                found.append((node, source.code(node.value), lower, upper))
    return found


def _complement(
    source: Source, held_out: tuple[Node, str, str, str], slices: list[tuple[Node, str, str, str]]
) -> Iterator[Splice]:
    """What another slice of the same thing leaves."""
    node, base, lower, upper = held_out
    for other, same, from_, to in slices:
        if other is node or same != base or source.statement_of(other) is source.statement_of(node):
            continue
        rest = f"{base}[{to}:]" if to else f"{base}[:{from_}]"
        if rest != f"{base}[{lower}:{upper}]":
            yield source.replace(node, rest)
            return
