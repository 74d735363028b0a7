"""PM402, PM407, PM615: the optimizer gets all that is trained, as it is when training begins, in the right groups."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from paramedic.cure.edit import Edit
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Node, Source
from paramedic.findings import Finding


@remedy("PM402")
def add_parameters(finding: Finding, source: Source) -> Iterator[Edit]:
    """The parameters that no optimizer has are given to the one on the line."""
    for call in _optimizers(source, finding.where.line):
        given = source.argument(call, 0, "params")
        if given is None:
            continue
        if isinstance(given, cst.Call) and source.called(given) == "filter" and len(given.args) == 2:
            every = source.code(given.args[1].value)
            yield source.edit("give the optimizer all parameters", source.replace(given, every))
        name = _variable(source, finding, call)
        if name and not source.mentions(given, f"{name}.parameters"):
            both = f"[*{source.operand(given)}, *{name}.parameters()]"
            yield source.edit(f"give the optimizer the parameters of {name}", source.replace(given, both))


@remedy("PM407", "PM402")
def make_it_later(finding: Finding, source: Source) -> Iterator[Edit]:
    """The optimizer is made after the last change to the model in its block."""
    for call in _optimizers(source, finding.where.line):
        statement = source.statement_of(call)
        models = _models(source, call)
        block, place = source.siblings(statement)
        later = [other for other in block[place + 1 :] if _changes(source, other, models)]
        if later and source.indent_of(statement) is not None:
            moved = source.move(statement, source.after(later[-1], ""), indent=source.indent_of(statement) or "")
            yield source.edit("make the optimizer after the last change to the model", *moved)


@remedy("PM407")
def weights_into_the_same(finding: Finding, source: Source) -> Iterator[Edit]:
    """A model that an optimizer holds gets other weights, not another model."""
    models = {name for call in _optimizers(source, finding.where.line) for name in _models(source, call)}
    models |= {f"self.{name}" for name in models}
    for call in source.calls(("deepcopy", "copy")):
        statement = source.statement_of(call)
        names = source.assigned_names(statement) if isinstance(statement, cst.SimpleStatementLine) else []
        parent = source.parent(call)
        if len(names) == 1 and names[0] in models and call.args and isinstance(parent, cst.Assign):
            new = f"{names[0]}.load_state_dict({source.operand(call.args[0].value)}.state_dict())"
            yield source.edit("load the weights into the model that is there", source.replace(parent, new))


@remedy("PM615", compare="metrics")
def decay_of_matrices(finding: Finding, source: Source) -> Iterator[Edit]:
    """Groups that are told apart by names are told apart by shape: what has fewer than two axes is not decayed."""
    splices = []
    for loop in source.all((cst.CompFor, cst.For)):
        target = loop.target
        if not source.calls("named_parameters", loop.iter) or not isinstance(target, cst.Tuple):
            continue
        name, tensor = (source.code(element.value) for element in target.elements[:2])
        inside = source.parent(loop) if isinstance(loop, cst.CompFor) else loop
        for call in source.calls(("any", "endswith"), inside):
            if source.mentions(call, name) or source.dotted(call.func) == f"{name}.endswith":
                splices.append(source.replace(call, f"({tensor}.ndim < 2)"))
    if splices:
        yield source.edit("decay matrices only, not biases and norms", *splices)


def _optimizers(source: Source, line: int | None) -> list[Node]:
    statement = source.statement_at(line)
    found = source.all(cst.Call, statement) if isinstance(statement, cst.SimpleStatementLine) else []
    return [call for call in found if source.called(call)[:1].isupper() and call.args][:1]


def _models(source: Source, optimizer: Node) -> set[str]:
    calls = source.calls(("parameters", "named_parameters"), optimizer)
    return {source.code(source.owner(call)) for call in calls if source.owner(call) is not None}


def _changes(source: Source, statement: Node, models: set[str]) -> bool:
    names = source.assigned_names(statement) if isinstance(statement, cst.SimpleStatementLine) else []
    return any(name == model or name.startswith(f"{model}.") for name in names for model in models)


def _variable(source: Source, finding: Finding, call: Node) -> str:
    """The name under which the program knows the module that is left out, where it can be seen from the line."""
    module = finding.where.module or ""
    named = re.search(r"add ([\w.]+)\.parameters\(\)", finding.remedy)
    for name in (named[1] if named else "", module, module.rpartition(".")[0]):
        root = name.partition(".")[0]
        if root and (source.assignments(root, call) or source.mentions(source.module, f"self.{root}")):
            return name if source.assignments(root, call) else f"self.{name}"
    return ""
